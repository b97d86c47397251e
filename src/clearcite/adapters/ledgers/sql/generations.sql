-- name: add_generation
INSERT INTO generations (name, manifest, created_at, kept) VALUES (?, ?, ?, ?);

-- name: keep
UPDATE generations SET kept = 1 WHERE id = ?;

-- name: waiting
SELECT count(*) FROM outbox WHERE generation = ? AND quarantined_at IS NULL;

-- name: add_switch
INSERT INTO switches (at, kind, before, after, actor, reason, forced, panel) VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- name: switches
SELECT s.id, s.at, coalesce(b.name, ''), a.name, s.kind, s.actor, s.reason, s.forced, s.panel
FROM switches s
JOIN generations a ON a.id = s.after
LEFT JOIN generations b ON b.id = s.before
ORDER BY s.id;

-- name: described
SELECT g.name, g.manifest, g.index_manifest, g.state, a.generation IS NOT NULL, g.kept, g.created_at,
       (SELECT count(*) FROM outbox o WHERE o.generation = g.id AND o.quarantined_at IS NULL),
       (SELECT count(*) FROM outbox o WHERE o.generation = g.id AND o.quarantined_at IS NOT NULL),
       (SELECT count(*) FROM projections p WHERE p.generation = g.id AND p.withdrawn = 0)
FROM generations g LEFT JOIN aliases a ON a.name = 'live' AND a.generation = g.id
ORDER BY g.id;

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
