-- name: documents
SELECT count(*) FILTER (WHERE d.operation = 'upsert'),
       count(*) FILTER (WHERE d.operation = 'delete'),
       count(*) FILTER (WHERE d.quarantined_at IS NOT NULL),
       count(*) FILTER (WHERE d.operation = 'upsert' AND s.withdrawn = 0 AND v.present = 1),
       count(*) FILTER (WHERE d.operation = 'upsert' AND s.withdrawn = 0 AND v.present = 0
                        AND d.quarantined_at IS NULL),
       count(*) FILTER (WHERE d.operation = 'upsert' AND (s.id IS NULL OR s.withdrawn = 1)),
       count(*) FILTER (WHERE d.operation = 'upsert' AND s.withdrawn = 0 AND s.revision <> d.revision),
       count(*) FILTER (WHERE d.operation = 'upsert' AND s.withdrawn = 0 AND s.access <> d.access),
       (SELECT count(*) FROM documents WHERE history_of IS NOT NULL AND operation = 'upsert')
FROM documents d
LEFT JOIN projections s ON s.document = d.id
  AND s.generation = (SELECT generation FROM aliases WHERE name = 'live')
LEFT JOIN visibility v ON v.generation = s.generation AND v.partition = s.partition AND v.slot = s.slot
  AND v.to_position IS NULL
WHERE d.history_of IS NULL;

-- name: outbox
SELECT g.name, count(*) FILTER (WHERE o.quarantined_at IS NULL),
       count(*) FILTER (WHERE o.quarantined_at IS NULL AND o.owner IS NOT NULL AND o.available_at > ?1),
       count(*) FILTER (WHERE o.quarantined_at IS NULL AND o.attempts > 0),
       count(*) FILTER (WHERE o.quarantined_at IS NOT NULL),
       min(o.waiting_since) FILTER (WHERE o.quarantined_at IS NULL)
FROM outbox o JOIN generations g ON g.id = o.generation
GROUP BY g.id ORDER BY g.id;

-- name: unsound_events
SELECT o.event_id, g.name, p.name, d.source_id, d.document_id
FROM outbox o
JOIN generations g ON g.id = o.generation
JOIN documents d ON d.id = o.document
JOIN partitions p ON p.id = d.partition
LEFT JOIN revisions r ON r.id = o.revision
LEFT JOIN accesses a ON a.id = o.access
WHERE NOT coalesce((o.kind = 'delete' AND d.operation = 'delete')
  OR (o.kind <> 'delete' AND d.operation = 'upsert' AND r.document = o.document AND a.partition = d.partition
      AND o.revision = d.revision AND o.access = d.access), 0)
ORDER BY o.event_id;

-- name: quarantined_documents
SELECT p.name, d.source_id, d.document_id, d.quarantine_reason, d.quarantined_at
FROM documents d JOIN partitions p ON p.id = d.partition
WHERE d.quarantined_at IS NOT NULL
ORDER BY p.name, d.source_id, d.document_id;

-- name: quarantined_events
SELECT p.name, d.source_id, d.document_id, o.last_error, o.quarantined_at, o.attempts, g.name
FROM outbox o
JOIN generations g ON g.id = o.generation
JOIN documents d ON d.id = o.document
JOIN partitions p ON p.id = d.partition
WHERE o.quarantined_at IS NOT NULL
ORDER BY o.event_id;

-- name: failing_events
SELECT p.name, d.source_id, d.document_id, o.last_error, o.available_at, o.attempts, g.name
FROM outbox o
JOIN generations g ON g.id = o.generation
JOIN documents d ON d.id = o.document
JOIN partitions p ON p.id = d.partition
WHERE o.quarantined_at IS NULL AND o.last_error IS NOT NULL
ORDER BY o.event_id;

-- name: sources
SELECT p.name, d.source_id, count(*), max(d.source_sequence), max(d.accepted_at)
FROM documents d JOIN partitions p ON p.id = d.partition
WHERE d.history_of IS NULL
GROUP BY p.id, d.source_id ORDER BY p.name, d.source_id;

-- name: truncated
SELECT count(*) FROM chunks
WHERE generation = (SELECT generation FROM aliases WHERE name = 'live') AND flags LIKE '%"vector_truncated"%';

-- name: totals
SELECT (SELECT count(*) FROM revisions),
       (SELECT count(*) FROM tombstones),
       (SELECT count(*) FROM chunks
        WHERE generation = (SELECT generation FROM aliases WHERE name = 'live')),
       (SELECT position FROM counters WHERE id = 1);

-- name: retention
SELECT number, started_at, finished_at, policy, receipt FROM purges
WHERE policy IS NOT NULL ORDER BY number DESC LIMIT 1;

-- name: purges
SELECT count(*), count(*) FILTER (WHERE finished_at IS NULL) FROM purges;

-- name: restores
SELECT restored_at, backup_at, journal_number, reason FROM restores ORDER BY number DESC LIMIT 10;
