-- What took something away, so that a backup that is put back can be brought up to it, and what was erased.

-- Which store this is, so that a journal is not taken for another store's. ``sealed``: a copy that must not serve
-- before what happened since has been applied to it.
CREATE TABLE store (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  store_id TEXT NOT NULL,
  sealed INTEGER NOT NULL DEFAULT 0 CHECK (sealed IN (0, 1))
) STRICT;
INSERT INTO store (id, store_id) VALUES (1, lower(hex(randomblob(16))));

-- ``access``: the newest access after a change of it. ``erase``: revisions of a document that lives on; ``detail``
-- lists their numbers. ``purge``: everything of a deleted document.
CREATE TABLE journal (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL CHECK (kind IN ('access', 'delete', 'quarantine', 'reinstate', 'erase', 'purge')),
  document INTEGER NOT NULL REFERENCES documents (id),
  source_sequence INTEGER NOT NULL,
  access INTEGER REFERENCES accesses (id),
  state_hash TEXT,
  detail TEXT,
  recorded_at INTEGER NOT NULL
) STRICT;
CREATE INDEX journal_document ON journal (document);

-- One row a purge. ``receipt`` is written when everything has been read back; without it the purge was interrupted.
CREATE TABLE purges (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  started_at INTEGER NOT NULL,
  finished_at INTEGER,
  receipt TEXT
) STRICT;
