-- name: note
INSERT INTO journal (kind, document, source_sequence, access, state_hash, detail, recorded_at)
SELECT ?1, id, source_sequence, access, state_hash, ?3, ?4 FROM documents WHERE id = ?2;
