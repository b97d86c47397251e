-- name: opening
SELECT c.position, g.id, g.name, g.index_manifest, g.manifest
FROM counters c
LEFT JOIN aliases a ON a.name = 'live'
LEFT JOIN generations g ON g.id = a.generation
WHERE c.id = 1;

-- name: opening_one
SELECT c.position, g.id, g.name, g.index_manifest, g.manifest
FROM counters c
LEFT JOIN generations g ON g.name = ?1 AND g.state = 'active'
WHERE c.id = 1;

-- name: partition
SELECT id, collections_position FROM partitions WHERE name = ?;

-- name: last_slot
SELECT max(slot) FROM visibility WHERE generation = ? AND partition = ?;

-- All rows in one text of six integers each, and the windows of those that have one in another, in the same order: a
-- row by itself costs more than all of its columns. The bounds of a window that is open are the extreme integers.
-- ``+``: the newest changes are found by position, not by walking over the slots.
-- name: visibility_since
SELECT group_concat(format('%016x%016x%016x%016x%016x%016x', v.slot, v.document, v.from_position,
                           v.present + 2 * v.supersedes + 4 * (v.valid_from IS NOT NULL OR v.valid_to IS NOT NULL)
                           + 8 * v.reasons, v.served_class, v.head_class), ''),
       group_concat(format('%016x%016x', ifnull(v.valid_from, -9223372036854775808),
                           ifnull(v.valid_to, 9223372036854775807)), '')
       FILTER (WHERE v.valid_from IS NOT NULL OR v.valid_to IS NOT NULL)
FROM visibility v
WHERE v.generation = ?1 AND v.partition = ?2 AND v.to_position IS NULL AND v.from_position > ?5
  AND +v.slot >= ?3 AND +v.slot < ?4;

-- name: visibility_now
SELECT group_concat(format('%016x%016x%016x%016x%016x%016x', v.slot, v.document, v.from_position,
                           v.present + 2 * v.supersedes + 4 * (v.valid_from IS NOT NULL OR v.valid_to IS NOT NULL)
                           + 8 * v.reasons, v.served_class, v.head_class), ''),
       group_concat(format('%016x%016x', ifnull(v.valid_from, -9223372036854775808),
                           ifnull(v.valid_to, 9223372036854775807)), '')
       FILTER (WHERE v.valid_from IS NOT NULL OR v.valid_to IS NOT NULL)
FROM visibility v
WHERE v.generation = ?1 AND v.partition = ?2 AND v.to_position IS NULL AND v.gone = 0
  AND v.slot >= ?3 AND v.slot < ?4;

-- name: visibility_at
SELECT group_concat(format('%016x%016x%016x%016x%016x%016x', v.slot, v.document, v.from_position,
                           v.present + 2 * v.supersedes + 4 * (v.valid_from IS NOT NULL OR v.valid_to IS NOT NULL)
                           + 8 * v.reasons, v.served_class, v.head_class), ''),
       group_concat(format('%016x%016x', ifnull(v.valid_from, -9223372036854775808),
                           ifnull(v.valid_to, 9223372036854775807)), '')
       FILTER (WHERE v.valid_from IS NOT NULL OR v.valid_to IS NOT NULL)
FROM visibility v
WHERE v.generation = ?1 AND v.partition = ?2 AND v.gone = 0
  AND v.from_position <= ?5 AND (v.to_position IS NULL OR v.to_position > ?5)
  AND v.slot >= ?3 AND v.slot < ?4;

-- name: access_class
SELECT parent, allow, deny FROM access_classes WHERE id = ?;

-- name: collections
SELECT path, allow, deny, seal FROM collections WHERE partition = ? AND to_position IS NULL ORDER BY path;

-- name: collections_at
SELECT path, allow, deny, seal FROM collections
WHERE partition = ?1 AND from_position <= ?2 AND (to_position IS NULL OR to_position > ?2) ORDER BY path;

-- ``served`` without the two accesses: a hundred chunks have few among them, which ``accesses`` gives once each.
-- name: chunks
SELECT p.name, d.source_id, d.document_id,
       s.withdrawn = 0 AND d.operation = 'upsert' AND d.quarantined_at IS NULL AND s.slot = c.slot, s.title, r.description,
       r.content_sha256, s.access_digest, d.access_digest, s.state_hash,
       c.slot, s.normal_sha256, c.seal, s.seal,
       d.partition, s.access, d.access,
       c.chunk_id, c.ordinal, c.start_at, c.end_at, c.text, c.sha256, c.context, c.heading, c.page, c.kind,
       c.units, c.language, c.flags
FROM json_each(?1) wanted
CROSS JOIN chunks c ON c.chunk_id = wanted.value AND c.generation = ?2
CROSS JOIN projections s ON s.id = c.projection AND s.generation = ?2
CROSS JOIN documents d ON d.id = s.document AND d.partition = s.partition
CROSS JOIN partitions p ON p.id = d.partition
CROSS JOIN revisions r ON r.id = s.revision AND r.document = d.id;

-- An access of another partition than the document that points to it is none.
-- name: accesses
SELECT a.partition, a.id, c.parent, c.allow, c.deny, a.status, a.valid_from, a.valid_to, a.trusted
FROM json_each(?1) wanted
CROSS JOIN accesses a ON a.id = wanted.value
CROSS JOIN access_classes c ON c.id = a.class AND c.partition = a.partition;

-- name: document
SELECT s.tenant_id, s.source_id, s.document_id, s.present, s.title, s.description,
       s.content_sha256, s.served_digest, s.head_digest, s.state_hash,
       s.served_parent, s.served_allow, s.served_deny, s.served_status, s.served_from, s.served_to,
       s.served_trusted,
       s.head_parent, s.head_allow, s.head_deny, s.head_status, s.head_from, s.head_to, s.head_trusted,
       t.sha256, t.text, s.slot, s.normal_sha256, s.seal
FROM served s JOIN served_texts t ON t.projection = s.projection
WHERE s.generation = ? AND s.partition = ? AND s.source_id = ? AND s.document_id = ?;

-- Of a document with this id, and of its older revisions, whose ids go on with a mark.
-- name: slots_named
SELECT x.slot
FROM documents d JOIN projections x ON x.document = d.id AND x.generation = ?1 AND x.partition = d.partition
WHERE d.partition = ?2 AND d.document_id = ?3
UNION ALL
SELECT x.slot
FROM documents d JOIN projections x ON x.document = d.id AND x.generation = ?1 AND x.partition = d.partition
WHERE d.partition = ?2 AND d.document_id > ?3 || char(31) AND d.document_id < ?3 || char(32);

-- From the runs of slots that were judged readable, the last of each by its first: what is hidden is not walked over.
-- name: keys_of
SELECT d.source_id, d.document_id, v.slot
FROM json_each(?1) run
CROSS JOIN visibility v ON v.generation = ?2 AND v.partition = ?3
  AND v.slot BETWEEN CAST(run.key AS INTEGER) AND run.value AND v.to_position IS NULL AND v.gone = 0
CROSS JOIN documents d ON d.id = v.document AND d.partition = v.partition
WHERE (d.source_id, d.document_id) > (?4, ?5)
ORDER BY d.source_id, d.document_id
LIMIT ?6;

-- name: documents_at
SELECT s.tenant_id, s.source_id, s.document_id, s.present, s.title, s.description,
       s.content_sha256, s.served_digest, s.head_digest, s.state_hash,
       s.served_parent, s.served_allow, s.served_deny, s.served_status, s.served_from, s.served_to,
       s.served_trusted,
       s.head_parent, s.head_allow, s.head_deny, s.head_status, s.head_from, s.head_to, s.head_trusted,
       t.sha256, '', s.slot, s.normal_sha256, s.seal
FROM json_each(?1) wanted
CROSS JOIN projections x ON x.generation = ?2 AND x.partition = ?3 AND x.slot = wanted.value
CROSS JOIN served s ON s.projection = x.id
CROSS JOIN served_texts t ON t.projection = x.id
ORDER BY s.source_id, s.document_id;

-- name: documents_of
SELECT d.id FROM json_each(?1) wanted CROSS JOIN documents d ON d.partition = ?2 AND d.source_id = wanted.value;

-- name: standing
SELECT d.operation, d.delete_reason, iif(d.quarantined_at IS NULL, NULL, coalesce(d.quarantine_reason, 'yes')),
       o.kind, coalesce(x.withdrawn, 1), d.access_digest, x.access_digest,
       hc.parent, hc.allow, hc.deny, h.status, h.valid_from, h.valid_to, h.trusted,
       sc.parent, sc.allow, sc.deny, s.status, s.valid_from, s.valid_to, s.trusted
FROM documents d
LEFT JOIN projections x ON x.document = d.id AND x.generation = ?1 AND x.partition = d.partition
LEFT JOIN outbox o ON o.document = d.id AND o.generation = ?1
LEFT JOIN accesses h ON h.id = d.access AND h.partition = d.partition
LEFT JOIN access_classes hc ON hc.id = h.class AND hc.partition = d.partition
LEFT JOIN accesses s ON s.id = x.access AND s.partition = d.partition
LEFT JOIN access_classes sc ON sc.id = s.class AND sc.partition = d.partition
WHERE d.partition = ?2 AND d.source_id = ?3 AND d.document_id = ?4;

-- name: inventory
SELECT d.source_id, d.document_id, s.slot
FROM documents d
LEFT JOIN projections s ON s.document = d.id AND s.generation = ?1 AND s.withdrawn = 0
WHERE d.partition = ?2
ORDER BY d.source_id, d.document_id;

-- name: numbers
SELECT source_id, document_id, id FROM documents WHERE partition = ? ORDER BY source_id, document_id;

-- name: live_slots
SELECT slot FROM projections WHERE generation = ? AND partition = ? AND withdrawn = 0 ORDER BY slot;

-- name: partitions
SELECT name FROM partitions ORDER BY name;
