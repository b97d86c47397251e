-- What citations show besides text is sealed: title, heading path, page, units, flags.
-- ``chunk_seal`` and ``build_seal`` are given by the program that migrates; what stands there now is taken as it is.

ALTER TABLE chunks ADD COLUMN seal TEXT NOT NULL DEFAULT '';
ALTER TABLE projections ADD COLUMN seal TEXT NOT NULL DEFAULT '';
UPDATE chunks SET seal = chunk_seal(ordinal, page, kind, language, context, heading, flags, units);
UPDATE projections SET seal = build_seal(title, normal_sha256);

CREATE INDEX documents_named ON documents (partition, document_id);

DROP VIEW served;
CREATE VIEW served AS
SELECT s.id AS projection, s.generation, s.partition, s.document, s.slot, s.supersedes,
       p.name AS tenant_id, d.source_id, d.document_id,
       s.withdrawn = 0 AND d.operation = 'upsert' AND d.quarantined_at IS NULL AS present,
       s.title, r.content_sha256, s.normal_sha256, s.seal, r.description,
       s.access_digest AS served_digest, d.access_digest AS head_digest, s.state_hash,
       sc.parent AS served_parent, sc.allow AS served_allow, sc.deny AS served_deny, sa.status AS served_status,
       sa.valid_from AS served_from, sa.valid_to AS served_to, sa.trusted AS served_trusted,
       hc.parent AS head_parent, hc.allow AS head_allow, hc.deny AS head_deny, ha.status AS head_status,
       ha.valid_from AS head_from, ha.valid_to AS head_to, ha.trusted AS head_trusted
FROM projections s
JOIN documents d ON d.id = s.document AND d.partition = s.partition
JOIN partitions p ON p.id = d.partition
JOIN revisions r ON r.id = s.revision AND r.document = d.id
JOIN accesses sa ON sa.id = s.access AND sa.partition = d.partition
JOIN access_classes sc ON sc.id = sa.class AND sc.partition = d.partition
JOIN accesses ha ON ha.id = d.access AND ha.partition = d.partition
JOIN access_classes hc ON hc.id = ha.class AND hc.partition = d.partition;
