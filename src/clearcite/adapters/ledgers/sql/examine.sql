-- Everything a store holds, joined without trust: what a row points to may be missing, or another's.

-- name: sizes
SELECT (SELECT count(*) FROM documents), (SELECT count(*) FROM revisions), (SELECT count(*) FROM projections),
       (SELECT count(*) FROM chunks), (SELECT position FROM counters WHERE id = 1);

-- name: generations
SELECT name, manifest, index_manifest FROM generations WHERE state = 'active' ORDER BY id;

-- name: manifests
SELECT manifest FROM generations ORDER BY id;

-- name: waiting
SELECT count(*) FROM outbox o JOIN generations g ON g.id = o.generation
WHERE g.state = 'active' AND o.quarantined_at IS NULL;

-- name: slot_state
SELECT s.next, EXISTS (SELECT 1 FROM projections x
                       WHERE x.generation = s.generation AND x.partition = s.partition AND x.slot = ?3)
FROM slots s
JOIN generations g ON g.id = s.generation JOIN partitions p ON p.id = s.partition
WHERE g.name = ?1 AND p.name = ?2;

-- name: live_slots
SELECT s.slot FROM projections s
JOIN generations g ON g.id = s.generation JOIN partitions p ON p.id = s.partition
WHERE g.name = ? AND p.name = ? AND s.withdrawn = 0 ORDER BY s.slot;

-- name: events
SELECT g.name, p.name, d.source_id, d.document_id, o.kind, o.quarantined_at,
       d.id IS NOT NULL AND (o.revision IS NULL OR r.document = d.id) AND (o.access IS NULL OR a.partition = d.partition)
FROM outbox o
LEFT JOIN generations g ON g.id = o.generation
LEFT JOIN documents d ON d.id = o.document
LEFT JOIN partitions p ON p.id = d.partition
LEFT JOIN revisions r ON r.id = o.revision
LEFT JOIN accesses a ON a.id = o.access
ORDER BY o.event_id;

-- name: heads
SELECT p.name, d.source_id, d.document_id, d.operation, d.access_digest, d.content_key, d.state_hash, d.build_hash,
       r.document = d.id, r.content_key, r.content_sha256, r.description,
       a.partition = d.partition AND c.partition = d.partition, a.digest,
       EXISTS (SELECT 1 FROM tombstones t WHERE t.document = d.id)
FROM documents d
LEFT JOIN partitions p ON p.id = d.partition
LEFT JOIN revisions r ON r.id = d.revision
LEFT JOIN accesses a ON a.id = d.access
LEFT JOIN access_classes c ON c.id = a.class
ORDER BY d.id;

-- name: pasts
SELECT p.name, d.source_id, d.document_id, o.name, h.source_id, h.document_id
FROM documents d
LEFT JOIN partitions p ON p.id = d.partition
LEFT JOIN documents h ON h.id = d.history_of
LEFT JOIN partitions o ON o.id = h.partition
WHERE d.history_of IS NOT NULL OR instr(d.document_id, ?) > 0
ORDER BY d.id;

-- name: revisions
SELECT p.name, d.source_id, d.document_id, r.content_key, r.content_sha256, r.description,
       b.textual, b.content, b.text
FROM revisions r
LEFT JOIN documents d ON d.id = r.document
LEFT JOIN partitions p ON p.id = d.partition
LEFT JOIN originals b ON b.revision = r.id
ORDER BY r.id;

-- name: accesses
SELECT p.name, a.digest, c.digest, c.partition = a.partition,
       c.parent, c.allow, c.deny, a.status, a.valid_from, a.valid_to, a.trusted
FROM accesses a
LEFT JOIN partitions p ON p.id = a.partition
LEFT JOIN access_classes c ON c.id = a.class
ORDER BY a.id;

-- name: lists
SELECT p.name, c.path, c.allow, c.deny, c.seal
FROM collections c LEFT JOIN partitions p ON p.id = c.partition
ORDER BY c.partition, c.path, c.from_position;

-- name: places
SELECT g.name, p.name, d.source_id, d.document_id, s.id IS NOT NULL AND s.withdrawn = 0,
       s.revision = d.revision, s.access = d.access, d.quarantined_at IS NOT NULL, o.event_id IS NOT NULL
FROM generations g
CROSS JOIN documents d
LEFT JOIN partitions p ON p.id = d.partition
LEFT JOIN projections s ON s.generation = g.id AND s.document = d.id
LEFT JOIN outbox o ON o.generation = g.id AND o.document = d.id
WHERE g.state = 'active' AND d.operation = 'upsert'
ORDER BY g.id, d.id;

-- name: builds
SELECT g.name, p.name, d.source_id, d.document_id,
       d.id IS NOT NULL AND s.partition = d.partition,
       r.document = d.id, a.partition = d.partition AND c.partition = d.partition,
       s.access_digest, a.digest, s.state_hash, r.content_sha256, r.description,
       d.operation = 'delete', s.withdrawn, s.revision = d.revision, g.state = 'active',
       (SELECT count(*) FROM chunks k WHERE k.projection = s.id),
       (SELECT count(*) FROM chunks k
        WHERE k.projection = s.id AND (k.slot <> s.slot OR k.generation <> s.generation)),
       EXISTS (SELECT 1 FROM served_texts t WHERE t.projection = s.id)
FROM projections s
LEFT JOIN generations g ON g.id = s.generation
LEFT JOIN documents d ON d.id = s.document
LEFT JOIN partitions p ON p.id = d.partition
LEFT JOIN revisions r ON r.id = s.revision
LEFT JOIN accesses a ON a.id = s.access
LEFT JOIN access_classes c ON c.id = a.class
ORDER BY s.id;

-- name: judged
SELECT g.name, t.name, d.source_id, d.document_id, p.document,
       p.generation, p.partition, p.slot, p.withdrawn, p.supersedes, d.operation, d.quarantined_at IS NOT NULL,
       s.class, s.status, s.valid_from, s.valid_to, s.trusted,
       h.class, h.status, h.valid_from, h.valid_to, h.trusted,
       v.document, v.served_class, v.head_class, v.valid_from, v.valid_to, v.present, v.reasons, v.gone,
       v.supersedes
FROM projections p
JOIN generations g ON g.id = p.generation
JOIN documents d ON d.id = p.document
JOIN partitions t ON t.id = d.partition
JOIN accesses s ON s.id = p.access
JOIN accesses h ON h.id = d.access
LEFT JOIN visibility v
  ON v.generation = p.generation AND v.partition = p.partition AND v.slot = p.slot AND v.to_position IS NULL
ORDER BY p.id;

-- name: unjudged
SELECT g.name, t.name, d.source_id, d.document_id
FROM visibility v
JOIN generations g ON g.id = v.generation
LEFT JOIN documents d ON d.id = v.document
LEFT JOIN partitions t ON t.id = d.partition
WHERE v.to_position IS NULL AND v.gone = 0
  AND NOT EXISTS (SELECT 1 FROM projections p
                  WHERE p.generation = v.generation AND p.partition = v.partition AND p.slot = v.slot
                    AND p.document = v.document)
ORDER BY v.generation, v.partition, v.slot;

-- name: orphans
SELECT 'a chunk without a build' FROM chunks k WHERE NOT EXISTS (SELECT 1 FROM projections s WHERE s.id = k.projection)
UNION ALL
SELECT 'a text without a build' FROM served_texts t WHERE NOT EXISTS (SELECT 1 FROM projections s WHERE s.id = t.projection)
UNION ALL
SELECT 'content without a revision' FROM originals b WHERE NOT EXISTS (SELECT 1 FROM revisions r WHERE r.id = b.revision)
UNION ALL
SELECT 'a tombstone without a document' FROM tombstones t WHERE NOT EXISTS (SELECT 1 FROM documents d WHERE d.id = t.document)
UNION ALL
SELECT 'an access list of no partition' FROM access_classes c
WHERE NOT EXISTS (SELECT 1 FROM partitions p WHERE p.id = c.partition);

-- name: served
SELECT s.id, p.name, d.source_id, d.document_id, s.slot, s.title, s.normal_sha256,
       r.content_sha256, r.description, b.textual, b.content, b.text, t.sha256, t.text, s.seal
FROM projections s
JOIN generations g ON g.id = s.generation
JOIN documents d ON d.id = s.document AND d.partition = s.partition
JOIN partitions p ON p.id = s.partition
JOIN revisions r ON r.id = s.revision AND r.document = d.id
JOIN originals b ON b.revision = r.id
JOIN served_texts t ON t.projection = s.id
WHERE g.name = ?
ORDER BY p.name, s.slot;

-- name: chunks_of
SELECT chunk_id, ordinal, start_at, end_at, text, sha256, context, heading, page, kind, units, language, flags, seal
FROM chunks WHERE projection = ? ORDER BY ordinal, start_at, chunk_id;

-- name: cut
SELECT c.chunk_id, c.ordinal, c.start_at, c.end_at, c.text, c.sha256, c.context, c.heading, c.page, c.kind, c.units,
       c.language, c.flags
FROM documents d
JOIN partitions p ON p.id = d.partition
JOIN generations g ON g.name = ?1
JOIN projections x ON x.generation = g.id AND x.partition = d.partition AND x.document = d.id AND x.withdrawn = 0
JOIN chunks c ON c.projection = x.id
WHERE p.name = ?2 AND d.source_id = ?3 AND d.document_id = ?4 ORDER BY c.ordinal, c.start_at, c.chunk_id;

-- name: texts
WITH excluded AS (SELECT value FROM json_each(?1))
SELECT content FROM originals WHERE revision NOT IN excluded
UNION ALL SELECT CAST(text AS BLOB) FROM originals WHERE text IS NOT NULL AND revision NOT IN excluded
UNION ALL SELECT CAST(text AS BLOB) FROM served_texts
UNION ALL SELECT CAST(text AS BLOB) FROM chunks
UNION ALL SELECT CAST(context AS BLOB) FROM chunks
UNION ALL SELECT CAST(heading AS BLOB) FROM chunks
UNION ALL SELECT CAST(title AS BLOB) FROM projections
UNION ALL SELECT CAST(description AS BLOB) FROM revisions WHERE id NOT IN excluded
UNION ALL SELECT CAST(document_id AS BLOB) FROM documents;
