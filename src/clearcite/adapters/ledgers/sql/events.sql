-- name: last_event
SELECT number, link FROM events ORDER BY number DESC LIMIT 1;

-- name: add_event
INSERT INTO events (number, at, kind, tenant_id, source_id, document_id, detail, link) VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- name: events
SELECT number, at, kind, tenant_id, source_id, document_id, detail, link FROM events WHERE number > ? ORDER BY number;

-- name: identity
SELECT p.name, d.source_id, d.document_id FROM documents d JOIN partitions p ON p.id = d.partition WHERE d.id = ?;

-- name: heads
SELECT p.name, d.source_id, d.document_id, d.operation, d.source_sequence, d.state_hash, d.access_digest
FROM documents d JOIN partitions p ON p.id = d.partition ORDER BY p.name, d.source_id, d.document_id;

-- name: lists
SELECT p.name, c.path, c.allow, c.deny
FROM collections c JOIN partitions p ON p.id = c.partition
WHERE c.to_position IS NULL ORDER BY p.name, c.path;

-- name: newest_policy
SELECT revision, content FROM policies ORDER BY revision DESC LIMIT 1;
