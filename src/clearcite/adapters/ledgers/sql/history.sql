-- name: has_history
SELECT 1 FROM documents WHERE history_of = ? LIMIT 1;

-- The head of a document with its access; after a delete, the access that it had.
-- name: before
SELECT d.id, d.operation, d.source_sequence, d.revision, d.content_key, r.accepted_at,
       c.parent, c.allow, c.deny, a.status, a.valid_from, a.valid_to, a.trusted
FROM documents d
LEFT JOIN revisions r ON r.id = d.revision
LEFT JOIN accesses a ON a.id = d.access
LEFT JOIN access_classes c ON c.id = a.class
WHERE d.partition = ? AND d.source_id = ? AND d.document_id = ?;

-- name: content
SELECT r.description, o.textual, o.content, o.text
FROM revisions r JOIN originals o ON o.revision = r.id WHERE r.id = ?;

-- name: entries
SELECT d.document_id, d.operation, d.source_sequence, a.valid_from, a.valid_to,
       (SELECT max(r.id) FROM revisions r JOIN originals o ON o.revision = r.id WHERE r.document = d.id)
FROM documents d JOIN accesses a ON a.id = d.access
WHERE d.history_of = ? AND (d.delete_reason IS NULL OR d.delete_reason = 'source_deleted')
ORDER BY d.id;

-- Whether anything ever stood at a place: what was erased there does not come back.
-- name: is_taken
SELECT 1 FROM documents WHERE partition = ? AND source_id = ? AND document_id = ?;

-- name: is_known
SELECT 1 FROM history_states WHERE document = ? AND source_sequence = ?;

-- name: next_state
SELECT min(began) FROM history_states WHERE document = ? AND source_sequence > ? AND began > ?;

-- name: add_state
INSERT OR IGNORE INTO history_states (document, source_sequence, began)
SELECT id, ?4, ?5 FROM documents WHERE partition = ?1 AND source_id = ?2 AND document_id = ?3;

-- name: was_deleted_after
SELECT 1 FROM tombstones WHERE document = ? AND source_sequence >= ? LIMIT 1;

-- name: newest_end
SELECT max(a.valid_to) FROM documents d JOIN accesses a ON a.id = d.access WHERE d.history_of = ?;

-- name: belongs_to
UPDATE documents SET history_of = ?1 WHERE partition = ?2 AND source_id = ?3 AND document_id = ?4;

-- name: ended_before
SELECT p.name, d.source_id, d.document_id, d.source_sequence
FROM documents d JOIN partitions p ON p.id = d.partition JOIN accesses a ON a.id = d.access
WHERE d.history_of IS NOT NULL AND d.operation = 'upsert' AND a.valid_to < ?
ORDER BY d.id;
