-- name: add_generation
INSERT INTO generations (name, manifest, created_at) VALUES (?, ?, ?);

-- name: live
SELECT generation FROM aliases WHERE name = 'live';

-- name: set_live
INSERT INTO aliases (name, generation) VALUES ('live', ?)
ON CONFLICT (name) DO UPDATE SET generation = excluded.generation;

-- name: set_retired
UPDATE generations SET state = 'retired', index_manifest = NULL WHERE id = ?;

-- name: drop_outbox
DELETE FROM outbox WHERE generation = ?;

-- name: drop_projections
DELETE FROM projections WHERE generation = ?;

-- name: drop_visibility
DELETE FROM visibility WHERE generation = ?;

-- name: all_generations
SELECT g.name, g.manifest, g.index_manifest, g.state, a.generation IS NOT NULL,
       (SELECT count(*) FROM outbox o WHERE o.generation = g.id),
       (SELECT count(*) FROM projections p WHERE p.generation = g.id)
FROM generations g LEFT JOIN aliases a ON a.name = 'live' AND a.generation = g.id
ORDER BY g.id;
