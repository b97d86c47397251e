-- name: served_and_waiting
SELECT g.id, p.revision, p.access, p.withdrawn, o.event_id, o.waiting_since,
       o.quarantined_at IS NOT NULL OR o.last_error IS NOT NULL, o.kind, o.revision, o.access
FROM generations g
LEFT JOIN projections p ON p.generation = g.id AND p.document = ?1
LEFT JOIN outbox o ON o.generation = g.id AND o.document = ?1
WHERE g.state = 'active';

-- name: head_pointers
SELECT operation, revision, access FROM documents WHERE id = ?;

-- name: drop_event
DELETE FROM outbox WHERE event_id = ?;

-- name: put_event
INSERT OR REPLACE INTO outbox (generation, document, kind, revision, access, waiting_since, available_at)
VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: active
SELECT id FROM generations WHERE state = 'active' ORDER BY id;

-- name: put_new
INSERT INTO outbox (generation, document, kind, revision, access, waiting_since, available_at)
VALUES (?, ?, 'project', ?, ?, ?, ?);

-- name: put_arrived
INSERT INTO outbox (generation, document, kind, revision, access, waiting_since, available_at)
SELECT ?1, id, 'project', revision, access, ?2, ?2 FROM documents WHERE id BETWEEN ?3 AND ?4 ORDER BY id;

-- name: enqueue_everything
INSERT INTO outbox (generation, document, kind, revision, access, waiting_since, available_at)
SELECT ?1, id, 'project', revision, access, ?2, ?2 FROM documents WHERE operation = 'upsert' ORDER BY id;
