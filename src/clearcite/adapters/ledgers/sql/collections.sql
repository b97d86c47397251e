-- name: current_collection
SELECT from_position, allow, deny FROM collections WHERE partition = ? AND path = ? AND to_position IS NULL;

-- name: close_collection
UPDATE collections SET to_position = ? WHERE partition = ? AND path = ? AND from_position = ?;

-- name: add_collection
INSERT OR REPLACE INTO collections (partition, path, from_position, allow, deny, configured, seal)
VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: mark_collections
UPDATE partitions SET collections_position = ? WHERE id = ?;

-- name: last_configured
SELECT configured FROM collections
WHERE partition = ? AND path = ? AND configured IS NOT NULL
ORDER BY from_position DESC LIMIT 1;

-- name: note_configured
UPDATE collections SET configured = ? WHERE partition = ? AND path = ? AND to_position IS NULL;
