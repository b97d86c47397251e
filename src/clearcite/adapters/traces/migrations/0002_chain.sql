-- Traces in an order that cannot be bent unseen; see ``domain.audit``. ``body`` and ``salt`` are null once a trace was
-- erased; the entry stays, and ``erases``, a JSON list, of a later one names it. ``digest`` is given by the program
-- that migrates.

CREATE TABLE chained (
  number INTEGER PRIMARY KEY,
  trace_id TEXT NOT NULL UNIQUE,
  tenant_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  commitment TEXT NOT NULL,
  link TEXT NOT NULL,
  salt BLOB,
  body TEXT
) STRICT;

INSERT INTO chained (number, trace_id, tenant_id, kind, created_at, commitment, link, salt, body)
SELECT row_number() OVER (ORDER BY number), trace_id, tenant_id, kind, created_at, '', '', randomblob(16), body
FROM traces;
UPDATE chained SET commitment = digest('body', salt, body);

WITH RECURSIVE chain (number, link) AS (
  SELECT 0, '0000000000000000000000000000000000000000000000000000000000000000'
  UNION ALL
  SELECT t.number, digest('trace', chain.link, t.number, t.trace_id, t.tenant_id, t.kind, t.created_at, t.commitment)
  FROM chain JOIN chained t ON t.number = chain.number + 1
)
UPDATE chained SET link = chain.link FROM chain WHERE chain.number = chained.number;

DROP TABLE traces;
ALTER TABLE chained RENAME TO traces;
CREATE INDEX traces_erased ON traces (number) WHERE body IS NULL;
