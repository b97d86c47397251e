-- How far each source has been taken. ``cursor`` is in the connector's own words; ``approved`` is how many of the
-- withheld deletes may go.
CREATE TABLE sources (
  partition INTEGER NOT NULL REFERENCES partitions (id),
  source_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  cursor TEXT,
  tried_at INTEGER,
  finished_at INTEGER,
  covered_at INTEGER,
  outcome TEXT NOT NULL,
  refused INTEGER NOT NULL,
  withheld INTEGER NOT NULL,
  approved INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (partition, source_id, kind)
) STRICT, WITHOUT ROWID;
