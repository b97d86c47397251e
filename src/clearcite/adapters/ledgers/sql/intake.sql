-- name: head
SELECT id, operation, source_sequence, state_hash, build_hash, access_digest, content_key, delete_reason, access
FROM documents WHERE partition = ? AND source_id = ? AND document_id = ?;

-- name: first_seen
SELECT min(j.key)
FROM partitions p
CROSS JOIN json_each(?1) j
CROSS JOIN documents d ON p.name = ?2 AND d.partition = p.id AND d.source_id = ?3 AND d.document_id = j.value;

-- name: add_document
INSERT INTO documents (partition, source_id, document_id, source_sequence, accepted_at) VALUES (?, ?, ?, ?, ?);

-- name: last_document
SELECT max(id) FROM documents;

-- name: last_revision
SELECT max(id) FROM revisions;

-- name: add_arrival
INSERT INTO documents
  (id, partition, source_id, document_id, source_sequence, access, access_digest, content_key, state_hash, build_hash,
   run_id, accepted_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: add_arrived_revision
INSERT INTO revisions (id, document, content_key, content_sha256, description, accepted_at) VALUES (?, ?, ?, ?, ?, ?);

-- name: point_at_revisions
UPDATE documents SET revision = id + ? WHERE id BETWEEN ? AND ?;

-- name: set_head
UPDATE documents
SET operation = 'upsert', source_sequence = ?, revision = ?, access = ?, access_digest = ?, content_key = ?,
    state_hash = ?, build_hash = ?, delete_reason = NULL, run_id = ?, accepted_at = ?
WHERE id = ?;

-- name: set_deleted
UPDATE documents
SET operation = 'delete', source_sequence = ?, state_hash = NULL, build_hash = NULL,
    content_key = NULL, revision = NULL, delete_reason = ?, run_id = ?, accepted_at = ?
WHERE id = ?;

-- name: advance
UPDATE documents SET source_sequence = ?, build_hash = ?, run_id = ? WHERE id = ?;

-- name: find_revision
SELECT id FROM revisions WHERE document = ? AND content_key = ?;

-- name: add_revision
INSERT INTO revisions (document, content_key, content_sha256, description, accepted_at) VALUES (?, ?, ?, ?, ?);

-- name: add_original
INSERT INTO originals (revision, textual, content, text) VALUES (?, ?, ?, ?)
ON CONFLICT (revision) DO NOTHING;

-- name: find_access
SELECT id FROM accesses WHERE partition = ? AND digest = ?;

-- name: add_access
INSERT INTO accesses (partition, digest, class, status, valid_from, valid_to, trusted)
VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: find_class
SELECT id FROM access_classes WHERE partition = ? AND digest = ?;

-- name: add_class
INSERT INTO access_classes (partition, digest, parent, allow, deny) VALUES (?, ?, ?, ?, ?);

-- name: unacknowledged
SELECT s.projection, s.content_sha256, s.description,
       s.served_parent, s.served_allow, s.served_deny, s.served_status, s.served_from, s.served_to,
       s.served_trusted,
       s.head_parent, s.head_allow, s.head_deny, s.head_status, s.head_from, s.head_to, s.head_trusted
FROM served s JOIN documents d ON d.id = s.document JOIN projections p ON p.id = s.projection
WHERE s.document = ?1 AND p.access <> d.access AND d.access <> ?2;

-- name: narrow
UPDATE projections SET access = ?, access_digest = ?, state_hash = ? WHERE id = ?;

-- name: add_tombstone
INSERT INTO tombstones (document, source_sequence, reason, run_id, recorded_at) VALUES (?, ?, ?, ?, ?);

-- name: withdraw
UPDATE projections SET withdrawn = 1 WHERE document = ?;
