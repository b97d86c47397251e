-- name: all
SELECT p.name, s.source_id, s.kind, s.cursor, s.tried_at, s.finished_at, s.covered_at, s.outcome, s.refused,
       s.withheld, s.approved
FROM sources s JOIN partitions p ON p.id = s.partition
ORDER BY p.name, s.source_id, s.kind;

-- name: put
INSERT INTO sources
  (partition, source_id, kind, cursor, tried_at, finished_at, covered_at, outcome, refused, withheld)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (partition, source_id, kind) DO UPDATE
SET cursor = excluded.cursor, tried_at = excluded.tried_at, finished_at = excluded.finished_at,
    covered_at = excluded.covered_at, outcome = excluded.outcome, refused = excluded.refused,
    withheld = excluded.withheld;

-- name: approve
UPDATE sources SET approved = ?4
WHERE partition = (SELECT id FROM partitions WHERE name = ?1) AND source_id = ?2 AND kind = ?3
RETURNING approved;

-- name: heads
SELECT d.document_id, d.source_sequence, d.operation = 'upsert'
FROM documents d JOIN partitions p ON p.id = d.partition
WHERE p.name = ? AND d.source_id = ? AND d.history_of IS NULL;
