-- name: slices
SELECT p.name, d.source_id, json_extract(r.description, '$.media_type') AS format,
       coalesce(json_extract(r.description, '$.language'),
                (SELECT c.language FROM chunks c WHERE c.projection = s.id ORDER BY c.ordinal LIMIT 1)) AS language,
       count(*) FILTER (WHERE d.operation = 'upsert'),
       count(*) FILTER (WHERE d.operation = 'upsert' AND s.withdrawn = 0 AND s.revision = d.revision
                        AND s.access = d.access),
       count(*) FILTER (WHERE d.operation = 'upsert' AND s.withdrawn = 0 AND v.present = 1),
       count(*) FILTER (WHERE d.operation = 'upsert' AND NOT coalesce(s.withdrawn = 0 AND v.present = 1, 0)),
       count(*) FILTER (WHERE d.operation = 'delete'),
       count(*) FILTER (WHERE o.quarantined_at IS NULL AND o.event_id IS NOT NULL),
       count(*) FILTER (WHERE o.quarantined_at IS NULL AND o.last_error IS NOT NULL),
       count(*) FILTER (WHERE o.quarantined_at IS NOT NULL OR d.quarantined_at IS NOT NULL),
       min(o.waiting_since) FILTER (WHERE o.quarantined_at IS NULL)
FROM documents d
JOIN partitions p ON p.id = d.partition
LEFT JOIN revisions r ON r.id = d.revision
LEFT JOIN projections s ON s.document = d.id
  AND s.generation = (SELECT generation FROM aliases WHERE name = 'live')
LEFT JOIN visibility v ON v.generation = s.generation AND v.partition = s.partition AND v.slot = s.slot
  AND v.to_position IS NULL
LEFT JOIN outbox o ON o.document = d.id AND o.generation = (SELECT generation FROM aliases WHERE name = 'live')
WHERE d.history_of IS NULL
GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4;

-- name: stages
SELECT kind, count(*) FILTER (WHERE quarantined_at IS NULL),
       count(*) FILTER (WHERE quarantined_at IS NULL AND last_error IS NOT NULL),
       total(max(attempts - 1, 0)),
       count(*) FILTER (WHERE quarantined_at IS NOT NULL),
       min(quarantined_at), min(waiting_since) FILTER (WHERE quarantined_at IS NULL)
FROM outbox WHERE generation = (SELECT generation FROM aliases WHERE name = 'live')
GROUP BY kind;

-- name: longest
SELECT p.name, d.source_id, d.document_id, o.kind, o.attempts, o.waiting_since
FROM outbox o JOIN documents d ON d.id = o.document JOIN partitions p ON p.id = d.partition
WHERE o.generation = (SELECT generation FROM aliases WHERE name = 'live') AND o.quarantined_at IS NULL
ORDER BY o.waiting_since, o.event_id LIMIT 1;

-- name: access
SELECT count(*) FILTER (WHERE d.access IS NULL),
       count(*) FILTER (WHERE c.allow = '[]'),
       count(*) FILTER (WHERE c.parent IS NOT NULL AND NOT EXISTS (
         SELECT 1 FROM collections k WHERE k.partition = d.partition AND k.path = c.parent AND k.to_position IS NULL))
FROM documents d
LEFT JOIN accesses a ON a.id = d.access
LEFT JOIN access_classes c ON c.id = a.class
WHERE d.operation = 'upsert';

-- name: crossed
SELECT count(*) FROM projections s
JOIN documents d ON d.id = s.document
JOIN revisions r ON r.id = s.revision
JOIN accesses a ON a.id = s.access
WHERE s.partition <> d.partition OR r.document <> d.id OR a.partition <> d.partition;

-- name: recent
SELECT at, kind, tenant_id, source_id, document_id, detail FROM events ORDER BY number DESC;

-- name: live
SELECT g.name FROM aliases a JOIN generations g ON g.id = a.generation WHERE a.name = 'live';
