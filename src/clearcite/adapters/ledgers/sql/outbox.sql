-- An event is sound when it names the head of its own document and a revision and access of that document.

-- name: give_up_lost
UPDATE outbox SET quarantined_at = ?1, last_error = coalesce(last_error, 'the worker was lost')
WHERE generation = ?2 AND quarantined_at IS NULL AND available_at <= ?1 AND attempts >= ?3;

-- name: ready
SELECT o.event_id, o.fence, o.attempts, o.kind, p.id, p.name, d.source_id, d.document_id, s.slot,
       r.content_sha256, r.description, b.textual, b.content, b.text
FROM outbox o
JOIN documents d ON d.id = o.document
JOIN partitions p ON p.id = d.partition
LEFT JOIN revisions r ON r.id = o.revision
LEFT JOIN accesses a ON a.id = o.access
LEFT JOIN originals b ON b.revision = o.revision AND o.kind = 'project'
LEFT JOIN projections s ON s.generation = o.generation AND s.document = o.document
WHERE o.generation = ?1 AND o.quarantined_at IS NULL AND o.available_at <= ?2
  AND ((o.kind = 'delete' AND d.operation = 'delete')
    OR (o.kind <> 'delete' AND d.operation = 'upsert' AND r.document = o.document AND a.partition = d.partition
        AND o.revision = d.revision AND o.access = d.access))
ORDER BY o.event_id
LIMIT ?3;

-- name: lease
UPDATE outbox SET fence = ?, attempts = ?, owner = ?, available_at = ?, slot = ? WHERE event_id = ?;

-- name: take_slots
INSERT INTO slots (generation, partition, next) VALUES (?1, ?2, ?3)
ON CONFLICT (generation, partition) DO UPDATE SET next = next + ?3
RETURNING next - ?3;

-- name: held
SELECT o.event_id, o.fence, p.name, d.source_id, d.document_id,
       o.document, o.kind, o.revision, o.access, o.slot, d.partition,
       d.access_digest, d.state_hash, s.id, s.slot, s.revision, s.withdrawn
FROM json_each(?1) j
CROSS JOIN outbox o ON o.event_id = j.value
JOIN documents d ON d.id = o.document
JOIN partitions p ON p.id = d.partition
LEFT JOIN revisions r ON r.id = o.revision
LEFT JOIN accesses a ON a.id = o.access
LEFT JOIN projections s ON s.generation = o.generation AND s.document = o.document
WHERE o.generation = ?2 AND o.quarantined_at IS NULL AND o.owner IS NOT NULL
  AND ((o.kind = 'delete' AND d.operation = 'delete')
    OR (o.kind <> 'delete' AND d.operation = 'upsert' AND r.document = o.document AND a.partition = d.partition
        AND o.revision = d.revision AND o.access = d.access));

-- name: done
DELETE FROM outbox WHERE event_id IN (SELECT value FROM json_each(?));

-- name: retry
UPDATE outbox SET owner = NULL, last_error = ?, available_at = ?
WHERE event_id = ? AND fence = ? AND quarantined_at IS NULL AND owner IS NOT NULL;

-- name: give_up
UPDATE outbox SET owner = NULL, last_error = ?, quarantined_at = ?
WHERE event_id = ? AND fence = ? AND quarantined_at IS NULL AND owner IS NOT NULL;

-- name: release
UPDATE outbox SET owner = NULL, attempts = attempts - 1, available_at = ?
WHERE event_id = ? AND fence = ? AND quarantined_at IS NULL AND owner IS NOT NULL;

-- name: reclaim
UPDATE outbox SET owner = NULL, available_at = ?1
WHERE owner = ?2 AND quarantined_at IS NULL
RETURNING event_id;

-- name: renew
UPDATE outbox SET available_at = ?
WHERE event_id = ? AND fence = ? AND quarantined_at IS NULL AND owner IS NOT NULL;

-- name: drop_projection
DELETE FROM projections WHERE id = ?;

-- name: last_projection
SELECT max(id) FROM projections;

-- name: add_projection
INSERT INTO projections
  (id, generation, document, partition, slot, revision, access, access_digest, state_hash, supersedes,
   published_at, title, normal_sha256, seal, flags, notes)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: acknowledge
UPDATE projections SET access = ?, access_digest = ?, state_hash = ?, published_at = ? WHERE id = ?;

-- name: add_text
INSERT INTO served_texts (projection, sha256, text) VALUES (?, ?, ?);

-- name: add_chunk
INSERT INTO chunks
  (generation, projection, chunk_id, slot, ordinal, start_at, end_at, sha256, kind, page, language,
   heading, flags, units, context, text, seal)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: set_index_manifest
UPDATE generations SET index_manifest = ? WHERE id = ?;

-- name: quarantine_document
UPDATE documents SET quarantined_at = ?, quarantine_reason = ? WHERE id = ? AND quarantined_at IS NULL;

-- name: withdraw_quarantined
UPDATE projections SET withdrawn = 1
WHERE document = ?1 AND EXISTS (SELECT 1 FROM documents WHERE id = ?1 AND quarantined_at IS NOT NULL);

-- name: reinstate_document
UPDATE documents SET quarantined_at = NULL, quarantine_reason = NULL WHERE id = ?;
