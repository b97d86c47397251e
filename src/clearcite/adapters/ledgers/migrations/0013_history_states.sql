-- Which states of a document whose source keeps its history were taken, in their turn or late: one that is sent again is
-- no news, and a text that was current twice is. What was taken before is in the log, when it began is not.
CREATE TABLE history_states (
  document INTEGER NOT NULL REFERENCES documents (id),
  source_sequence INTEGER NOT NULL,
  began INTEGER,
  PRIMARY KEY (document, source_sequence)
) STRICT, WITHOUT ROWID;

INSERT OR IGNORE INTO history_states (document, source_sequence)
SELECT d.id, json_extract(e.detail, '$.sequence')
FROM documents d
JOIN partitions p ON p.id = d.partition
JOIN events e ON e.tenant_id = p.name AND e.source_id = d.source_id AND e.document_id = d.document_id
WHERE d.id IN (SELECT history_of FROM documents) AND json_extract(e.detail, '$.sequence') IS NOT NULL;
