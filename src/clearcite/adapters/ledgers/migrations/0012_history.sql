-- Older revisions of a source that keeps them: entries of their own, each with the window in which it was current.
ALTER TABLE documents ADD COLUMN history_of INTEGER REFERENCES documents (id);
CREATE INDEX documents_history ON documents (history_of) WHERE history_of IS NOT NULL;
