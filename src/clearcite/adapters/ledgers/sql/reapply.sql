-- name: add_deleted
INSERT INTO documents (partition, source_id, document_id, operation, source_sequence, delete_reason, accepted_at)
VALUES (?, ?, ?, 'delete', ?, ?, ?);

-- name: head
SELECT d.id, d.partition, d.operation, d.source_sequence, d.state_hash, d.build_hash, d.revision,
       r.content_sha256, r.description, r.content_key,
       c.parent, c.allow, c.deny, a.status, a.valid_from, a.valid_to, a.trusted
FROM documents d
LEFT JOIN revisions r ON r.id = d.revision
LEFT JOIN accesses a ON a.id = d.access
LEFT JOIN access_classes c ON c.id = a.class
WHERE d.id = ?;

-- name: set_sequence
UPDATE documents SET source_sequence = max(source_sequence, ?) WHERE id = ?;

-- name: narrow_head
UPDATE documents
SET access = ?, access_digest = ?, state_hash = ?, build_hash = ?, source_sequence = max(source_sequence, ?)
WHERE id = ?;

-- name: delete_head
UPDATE documents
SET operation = 'delete', source_sequence = ?, state_hash = NULL, build_hash = NULL,
    content_key = NULL, revision = NULL, delete_reason = ?, accepted_at = ?
WHERE id = ?;

-- name: add_tombstone
INSERT INTO tombstones (document, source_sequence, reason, run_id, recorded_at) VALUES (?, ?, ?, NULL, ?)
ON CONFLICT DO NOTHING;

-- name: builds
SELECT s.id, s.generation, s.partition, s.slot, r.content_key
FROM projections s JOIN revisions r ON r.id = s.revision WHERE s.document = ?;

-- name: drop_events
DELETE FROM outbox WHERE document = ?;

-- name: revisions
SELECT id, content_key FROM revisions WHERE document = ? ORDER BY id;

-- name: keep_entry
INSERT INTO journal (number, kind, document, source_sequence, access, state_hash, detail, recorded_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- name: free_leases
UPDATE outbox SET owner = NULL, available_at = ? WHERE owner IS NOT NULL;

-- name: begin_sources_again
UPDATE sources SET cursor = NULL, approved = 0;

-- name: raise_to
UPDATE counters SET position = max(position, ?) + 1 WHERE id = 1;

-- name: open_collections
SELECT p.name, c.path, c.allow, c.deny
FROM collections c JOIN partitions p ON p.id = c.partition WHERE c.to_position IS NULL;

-- name: forget_number
DELETE FROM sqlite_sequence WHERE name = 'journal';

-- name: set_number
INSERT INTO sqlite_sequence (name, seq) VALUES ('journal', ?);

-- name: unseal
UPDATE store SET sealed = 0, store_id = coalesce(?, store_id);

-- name: add_restore
INSERT INTO restores (restored_at, backup_at, backup_number, journal_number, reason, reapplied)
VALUES (?, ?, ?, ?, ?, ?);

-- name: state_now
SELECT operation, source_sequence, state_hash, access_digest FROM documents WHERE id = ?;
