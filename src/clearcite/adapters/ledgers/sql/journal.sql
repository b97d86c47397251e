-- name: note
INSERT INTO journal (kind, document, source_sequence, access, state_hash, detail, recorded_at)
SELECT ?1, id, source_sequence, access, state_hash, ?3, ?4 FROM documents WHERE id = ?2;

-- name: head
SELECT s.store_id, c.position,
       max(coalesce((SELECT max(number) FROM journal), 0), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'journal'), 0))
FROM store s CROSS JOIN counters c;

-- name: entries
SELECT j.number, j.kind, p.name, d.source_id, d.document_id, j.source_sequence, j.recorded_at, j.state_hash, j.detail,
       c.parent, c.allow, c.deny, a.status, a.valid_from, a.valid_to, a.trusted
FROM journal j
JOIN documents d ON d.id = j.document
JOIN partitions p ON p.id = d.partition
LEFT JOIN accesses a ON a.id = j.access
LEFT JOIN access_classes c ON c.id = a.class
ORDER BY j.number;

-- name: collections
SELECT p.name, c.path, c.from_position, c.to_position, c.allow, c.deny
FROM collections c JOIN partitions p ON p.id = c.partition
ORDER BY p.name, c.path, c.from_position;
