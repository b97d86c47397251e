-- Statements that several modules share.

-- name: raise_position
UPDATE counters SET position = position + 1 WHERE id = 1 RETURNING position;

-- name: find_partition
SELECT id FROM partitions WHERE name = ?;

-- name: add_partition
INSERT INTO partitions (name) VALUES (?);

-- name: find_document
SELECT d.id, d.partition, d.operation, d.revision, d.access
FROM documents d JOIN partitions p ON p.id = d.partition
WHERE p.name = ? AND d.source_id = ? AND d.document_id = ?;

-- name: find_generation
SELECT id, manifest, index_manifest, state FROM generations WHERE name = ?;

-- name: store_id
SELECT store_id FROM store;

-- name: is_sealed
SELECT sealed FROM store;

-- name: seal
UPDATE store SET sealed = 1;
