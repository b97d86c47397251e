-- Which policies were accepted, newest last: their revision only rises. The newest one is kept whole, so that names
-- can be resolved while its source is away. ``content``: its digest; null where only a revision was announced.
CREATE TABLE policies (
  revision INTEGER PRIMARY KEY,
  content TEXT,
  issued_at INTEGER,
  accepted_at INTEGER NOT NULL,
  origin TEXT NOT NULL,
  snapshot TEXT
) STRICT;

-- The last attempt that failed since the last one that did not.
CREATE TABLE policy_alarms (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  failed_at INTEGER NOT NULL,
  failures INTEGER NOT NULL,
  origin TEXT NOT NULL,
  reason TEXT NOT NULL
) STRICT;

-- ``configured``: the digest of the entry of a configuration file that gave this list; null for one set by hand.
ALTER TABLE collections ADD COLUMN configured TEXT;
