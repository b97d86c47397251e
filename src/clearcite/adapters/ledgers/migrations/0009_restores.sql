-- Each time a backup was put back. ``journal_number``: up to which entry what was taken away since was taken away
-- again; null when that was not known, and then ``reason`` says why it was done nevertheless.
CREATE TABLE restores (
  number INTEGER PRIMARY KEY,
  restored_at INTEGER NOT NULL,
  backup_at INTEGER NOT NULL,
  backup_number INTEGER NOT NULL,
  journal_number INTEGER,
  reason TEXT,
  reapplied TEXT NOT NULL
) STRICT;
