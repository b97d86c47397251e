-- Everything that happened to the ledger, each entry linked to the one before; see ``domain.audit``. Written in the
-- transaction of what it tells. Holds identities, numbers and hashes, no text, so that nothing of it has to go.
-- ``digest`` is given by the program that migrates.

CREATE TABLE events (
  number INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  kind TEXT NOT NULL,
  tenant_id TEXT NOT NULL,
  source_id TEXT NOT NULL,
  document_id TEXT NOT NULL,
  detail TEXT NOT NULL,
  link TEXT NOT NULL
) STRICT;

-- The documents there are: the log begins with what it finds.
INSERT INTO events (number, at, kind, tenant_id, source_id, document_id, detail, link)
SELECT row_number() OVER (ORDER BY d.id), d.accepted_at, 'found', p.name, d.source_id, d.document_id,
       json_object('operation', d.operation, 'sequence', d.source_sequence, 'state', d.state_hash,
                   'access', d.access_digest), ''
FROM documents d JOIN partitions p ON p.id = d.partition;

WITH RECURSIVE chain (number, link) AS (
  SELECT 0, '0000000000000000000000000000000000000000000000000000000000000000'
  UNION ALL
  SELECT e.number, digest('event', chain.link, e.number, e.at, e.kind, e.tenant_id, e.source_id, e.document_id, e.detail)
  FROM chain JOIN events e ON e.number = chain.number + 1
)
UPDATE events SET link = chain.link FROM chain WHERE chain.number = events.number;
