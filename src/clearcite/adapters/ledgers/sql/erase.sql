-- name: deleted
SELECT d.id, p.name, d.source_id, d.document_id, d.source_sequence,
       EXISTS (SELECT 1 FROM projections s WHERE s.document = d.id)
         OR EXISTS (SELECT 1 FROM outbox o WHERE o.document = d.id),
       (SELECT json_group_array(r.id) FROM revisions r WHERE r.document = d.id)
FROM documents d JOIN partitions p ON p.id = d.partition
WHERE d.operation = 'delete' AND d.accepted_at < ?1
  AND EXISTS (SELECT 1 FROM revisions r WHERE r.document = d.id)
ORDER BY d.id;

-- name: one
SELECT d.id, p.name, d.source_id, d.document_id, d.source_sequence,
       EXISTS (SELECT 1 FROM projections s WHERE s.document = d.id)
         OR EXISTS (SELECT 1 FROM outbox o WHERE o.document = d.id),
       (SELECT json_group_array(r.id) FROM revisions r WHERE r.document = d.id), d.operation
FROM documents d JOIN partitions p ON p.id = d.partition
WHERE p.name = ? AND d.source_id = ? AND d.document_id = ?;

-- Older revisions of a document that go with it; and all whose time is over.
-- name: history
SELECT d.id, p.name, d.source_id, d.document_id, d.source_sequence,
       EXISTS (SELECT 1 FROM projections s WHERE s.document = d.id)
         OR EXISTS (SELECT 1 FROM outbox o WHERE o.document = d.id),
       (SELECT json_group_array(r.id) FROM revisions r WHERE r.document = d.id)
FROM documents d JOIN partitions p ON p.id = d.partition
WHERE d.operation = 'delete' AND EXISTS (SELECT 1 FROM revisions r WHERE r.document = d.id)
  AND CASE WHEN ?1 IS NULL THEN d.history_of IS NOT NULL AND d.delete_reason = 'retention_expired'
           ELSE d.history_of = ?1 END
ORDER BY d.id;

-- Of documents that live: revisions that are neither the newest nor served nor waited for.
-- name: old
SELECT d.id, p.name, d.source_id, d.document_id, d.source_sequence, 0, json_group_array(r.id)
FROM documents d
JOIN partitions p ON p.id = d.partition
JOIN revisions r ON r.document = d.id
WHERE d.operation = 'upsert' AND r.accepted_at < ?1 AND r.id <> d.revision
  AND NOT EXISTS (SELECT 1 FROM projections s WHERE s.revision = r.id)
  AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.revision = r.id)
GROUP BY d.id ORDER BY d.id;

-- name: content
SELECT r.description, b.textual, b.content, b.text
FROM revisions r LEFT JOIN originals b ON b.revision = r.id
WHERE r.id = ?;

-- name: still_erasable
SELECT d.operation, d.revision IS ?2,
       EXISTS (SELECT 1 FROM projections s WHERE s.revision = ?2) OR EXISTS (SELECT 1 FROM outbox o WHERE o.revision = ?2),
       r.content_key
FROM documents d JOIN revisions r ON r.document = d.id AND r.id = ?2 WHERE d.id = ?1;

-- name: drop_original
DELETE FROM originals WHERE revision = ?;

-- name: drop_revision
DELETE FROM revisions WHERE id = ?;

-- name: begin_purge
INSERT INTO purges (started_at, policy) VALUES (?, ?);

-- name: finish_purges
UPDATE purges SET finished_at = ?1, receipt = CASE number WHEN ?2 THEN ?3 ELSE 'completed by ' || ?2 END
WHERE finished_at IS NULL AND number <= ?2;
