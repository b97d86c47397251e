-- name: states_of_document
SELECT p.generation, p.partition, p.slot, p.withdrawn, p.supersedes, d.operation, d.quarantined_at IS NOT NULL,
       s.class, s.status, s.valid_from, s.valid_to, s.trusted,
       h.class, h.status, h.valid_from, h.valid_to, h.trusted
FROM projections p
JOIN documents d ON d.id = p.document
JOIN accesses s ON s.id = p.access
JOIN accesses h ON h.id = d.access
WHERE p.document = ?;

-- name: states_of_projections
SELECT p.generation, p.partition, p.slot, p.document, p.withdrawn, p.supersedes, d.operation,
       d.quarantined_at IS NOT NULL,
       s.class, s.status, s.valid_from, s.valid_to, s.trusted,
       h.class, h.status, h.valid_from, h.valid_to, h.trusted
FROM projections p
JOIN documents d ON d.id = p.document
JOIN accesses s ON s.id = p.access
JOIN accesses h ON h.id = d.access
WHERE p.id BETWEEN ? AND ?;

-- name: current_row
SELECT from_position, document, served_class, head_class, valid_from, valid_to, present, reasons, gone,
       supersedes
FROM visibility
WHERE generation = ? AND partition = ? AND slot = ? AND to_position IS NULL
ORDER BY from_position DESC LIMIT 1;

-- name: close_row
UPDATE visibility SET to_position = ?
WHERE generation = ? AND partition = ? AND slot = ? AND from_position = ?;

-- name: put_row
INSERT OR REPLACE INTO visibility
  (generation, partition, slot, from_position, document, served_class, head_class,
   valid_from, valid_to, present, reasons, gone, supersedes)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);
