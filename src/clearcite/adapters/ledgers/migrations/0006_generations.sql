-- Generations that only an operator retires, and every switch of the alias ``live``.
ALTER TABLE generations ADD COLUMN kept INTEGER NOT NULL DEFAULT 0 CHECK (kept IN (0, 1));

CREATE TABLE switches (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('promote', 'rollback', 'ingest', 'repair')),
  before INTEGER REFERENCES generations (id),
  after INTEGER NOT NULL REFERENCES generations (id),
  actor TEXT NOT NULL,
  reason TEXT NOT NULL,
  forced INTEGER NOT NULL CHECK (forced IN (0, 1)),
  panel TEXT NOT NULL
) STRICT;
