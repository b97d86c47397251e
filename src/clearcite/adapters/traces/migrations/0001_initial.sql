-- What happened to each question. Instants are microseconds UTC; ``number`` is the order of writing.

CREATE TABLE traces (
  number INTEGER PRIMARY KEY,
  trace_id TEXT NOT NULL UNIQUE,
  tenant_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT;
