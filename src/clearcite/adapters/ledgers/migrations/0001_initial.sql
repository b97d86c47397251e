-- The ledger: what sources said, what is published of it, and who may read it.
-- Instants are microseconds UTC. Positions number changes of visibility. Digests are lower-case hex.

CREATE TABLE counters (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  position INTEGER NOT NULL
) STRICT;
INSERT INTO counters (id, position) VALUES (1, 0);

CREATE TABLE partitions (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  collections_position INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE generations (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  manifest TEXT NOT NULL,
  index_manifest TEXT,
  state TEXT NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'retired')),
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE aliases (
  name TEXT PRIMARY KEY,
  generation INTEGER NOT NULL REFERENCES generations (id)
) STRICT, WITHOUT ROWID;

-- The next free slot. A slot numbers one build of one revision and is never used twice, so that segments
-- written by a worker that lost its lease stay invisible whatever happens to them.
CREATE TABLE slots (
  generation INTEGER NOT NULL REFERENCES generations (id),
  partition INTEGER NOT NULL REFERENCES partitions (id),
  next INTEGER NOT NULL,
  PRIMARY KEY (generation, partition)
) STRICT, WITHOUT ROWID;

-- Access, interned per partition: a class is what one judgement serves, an access adds status and window.
CREATE TABLE access_classes (
  id INTEGER PRIMARY KEY,
  partition INTEGER NOT NULL REFERENCES partitions (id),
  digest TEXT NOT NULL,
  parent TEXT,
  allow TEXT NOT NULL,
  deny TEXT NOT NULL,
  UNIQUE (partition, digest)
) STRICT;

CREATE TABLE accesses (
  id INTEGER PRIMARY KEY,
  partition INTEGER NOT NULL REFERENCES partitions (id),
  digest TEXT NOT NULL,
  class INTEGER NOT NULL REFERENCES access_classes (id),
  status TEXT NOT NULL CHECK (status IN ('published', 'draft', 'archived')),
  valid_from INTEGER,
  valid_to INTEGER,
  trusted INTEGER NOT NULL CHECK (trusted IN (0, 1)),
  UNIQUE (partition, digest)
) STRICT;

-- One row a document: its head, the newest state accepted. After a delete the last access stays for the record.
CREATE TABLE documents (
  id INTEGER PRIMARY KEY,
  partition INTEGER NOT NULL REFERENCES partitions (id),
  source_id TEXT NOT NULL,
  document_id TEXT NOT NULL,
  operation TEXT NOT NULL DEFAULT 'upsert' CHECK (operation IN ('upsert', 'delete')),
  source_sequence INTEGER NOT NULL,
  revision INTEGER REFERENCES revisions (id),
  access INTEGER REFERENCES accesses (id),
  access_digest TEXT,
  content_key TEXT,
  state_hash TEXT,
  build_hash TEXT,
  delete_reason TEXT,
  run_id TEXT,
  accepted_at INTEGER NOT NULL,
  quarantined_at INTEGER,
  quarantine_reason TEXT,
  UNIQUE (partition, source_id, document_id)
) STRICT;
CREATE INDEX documents_quarantined ON documents (quarantined_at) WHERE quarantined_at IS NOT NULL;

-- Content and description. A pure change of access makes no row here.
CREATE TABLE revisions (
  id INTEGER PRIMARY KEY,
  document INTEGER NOT NULL REFERENCES documents (id),
  content_key TEXT NOT NULL,
  content_sha256 TEXT NOT NULL,
  description TEXT NOT NULL,
  accepted_at INTEGER NOT NULL,
  UNIQUE (document, content_key)
) STRICT;

-- The bytes as the source gave them. ``text`` is null when it is those bytes in UTF-8 (then textual = 1) or
-- when a parser has to extract it (textual = 0).
CREATE TABLE originals (
  revision INTEGER PRIMARY KEY REFERENCES revisions (id),
  textual INTEGER NOT NULL CHECK (textual IN (0, 1)),
  content BLOB NOT NULL,
  text TEXT
) STRICT;

CREATE TABLE tombstones (
  document INTEGER NOT NULL REFERENCES documents (id),
  source_sequence INTEGER NOT NULL,
  reason TEXT NOT NULL,
  run_id TEXT,
  recorded_at INTEGER NOT NULL,
  PRIMARY KEY (document, source_sequence)
) STRICT, WITHOUT ROWID;

-- A collection's own list. ``allow`` null: no restriction of its own. A removed collection has no open row.
CREATE TABLE collections (
  partition INTEGER NOT NULL REFERENCES partitions (id),
  path TEXT NOT NULL,
  from_position INTEGER NOT NULL,
  to_position INTEGER,
  allow TEXT,
  deny TEXT NOT NULL,
  PRIMARY KEY (partition, path, from_position)
) STRICT, WITHOUT ROWID;
CREATE INDEX collections_current ON collections (partition, path) WHERE to_position IS NULL;

-- At most one piece of work a document and generation: a newer event takes the place of the older one.
-- ``available_at``: when it may be claimed (retry time, or the end of the lease). ``fence`` rises with each claim.
CREATE TABLE outbox (
  event_id INTEGER PRIMARY KEY AUTOINCREMENT,
  generation INTEGER NOT NULL REFERENCES generations (id),
  document INTEGER NOT NULL REFERENCES documents (id),
  kind TEXT NOT NULL CHECK (kind IN ('project', 'access', 'delete')),
  revision INTEGER REFERENCES revisions (id),
  access INTEGER REFERENCES accesses (id),
  waiting_since INTEGER NOT NULL,
  available_at INTEGER NOT NULL,
  owner TEXT,
  fence INTEGER NOT NULL DEFAULT 0,
  slot INTEGER,
  attempts INTEGER NOT NULL DEFAULT 0,
  last_error TEXT,
  quarantined_at INTEGER,
  UNIQUE (generation, document)
) STRICT;
CREATE INDEX outbox_ready ON outbox (generation, event_id) WHERE quarantined_at IS NULL;
CREATE INDEX outbox_document ON outbox (document);

-- The published pointer of a document in a generation: which build serves, and under which access.
-- ``withdrawn``: deleted since, so it serves nothing until it is built again.
CREATE TABLE projections (
  id INTEGER PRIMARY KEY,
  generation INTEGER NOT NULL REFERENCES generations (id),
  document INTEGER NOT NULL REFERENCES documents (id),
  partition INTEGER NOT NULL REFERENCES partitions (id),
  slot INTEGER NOT NULL,
  revision INTEGER NOT NULL REFERENCES revisions (id),
  access INTEGER NOT NULL REFERENCES accesses (id),
  access_digest TEXT NOT NULL,
  state_hash TEXT NOT NULL,
  withdrawn INTEGER NOT NULL DEFAULT 0 CHECK (withdrawn IN (0, 1)),
  supersedes INTEGER NOT NULL DEFAULT 0 CHECK (supersedes IN (0, 1)),
  published_at INTEGER NOT NULL,
  title TEXT NOT NULL,
  normal_sha256 TEXT NOT NULL,
  flags TEXT NOT NULL,
  notes TEXT NOT NULL,
  UNIQUE (generation, document),
  UNIQUE (generation, partition, slot)
) STRICT;
CREATE INDEX projections_document ON projections (document);
CREATE INDEX projections_superseding ON projections (generation, partition) WHERE supersedes = 1;

CREATE TABLE served_texts (
  projection INTEGER PRIMARY KEY REFERENCES projections (id) ON DELETE CASCADE,
  sha256 TEXT NOT NULL,
  text TEXT NOT NULL
) STRICT;

CREATE TABLE chunks (
  id INTEGER PRIMARY KEY,
  generation INTEGER NOT NULL,
  projection INTEGER NOT NULL REFERENCES projections (id) ON DELETE CASCADE,
  chunk_id TEXT NOT NULL,
  slot INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  start_at INTEGER NOT NULL,
  end_at INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  kind TEXT NOT NULL,
  page INTEGER,
  language TEXT,
  heading TEXT NOT NULL,
  flags TEXT NOT NULL,
  units TEXT NOT NULL,
  context TEXT NOT NULL,
  text TEXT NOT NULL,
  UNIQUE (chunk_id, generation)
) STRICT;
CREATE INDEX chunks_projection ON chunks (projection);

-- What decides about a slot between two positions; a row is closed, never changed, so any past position can be
-- rebuilt. ``reasons``: 1 not published, 2 quarantined. ``gone``: the slot serves nothing any more, for good.
CREATE TABLE visibility (
  generation INTEGER NOT NULL REFERENCES generations (id),
  partition INTEGER NOT NULL REFERENCES partitions (id),
  slot INTEGER NOT NULL,
  from_position INTEGER NOT NULL,
  to_position INTEGER,
  document INTEGER NOT NULL REFERENCES documents (id),
  served_class INTEGER NOT NULL REFERENCES access_classes (id),
  head_class INTEGER NOT NULL REFERENCES access_classes (id),
  valid_from INTEGER,
  valid_to INTEGER,
  present INTEGER NOT NULL CHECK (present IN (0, 1)),
  reasons INTEGER NOT NULL,
  gone INTEGER NOT NULL DEFAULT 0 CHECK (gone IN (0, 1)),
  PRIMARY KEY (generation, partition, slot, from_position)
) STRICT, WITHOUT ROWID;
CREATE INDEX visibility_current ON visibility (generation, partition, from_position) WHERE to_position IS NULL;
CREATE INDEX visibility_document ON visibility (document);

-- A served document with both sides of its access, joined so that a pointer into another identity joins nothing.
CREATE VIEW served AS
SELECT s.id AS projection, s.generation, s.partition, s.document, s.slot, s.supersedes,
       p.name AS tenant_id, d.source_id, d.document_id,
       s.withdrawn = 0 AND d.operation = 'upsert' AND d.quarantined_at IS NULL AS present,
       s.title, r.content_sha256, s.normal_sha256, r.description,
       s.access_digest AS served_digest, d.access_digest AS head_digest, s.state_hash,
       sc.parent AS served_parent, sc.allow AS served_allow, sc.deny AS served_deny, sa.status AS served_status,
       sa.valid_from AS served_from, sa.valid_to AS served_to, sa.trusted AS served_trusted,
       hc.parent AS head_parent, hc.allow AS head_allow, hc.deny AS head_deny, ha.status AS head_status,
       ha.valid_from AS head_from, ha.valid_to AS head_to, ha.trusted AS head_trusted
FROM projections s
JOIN documents d ON d.id = s.document AND d.partition = s.partition
JOIN partitions p ON p.id = d.partition
JOIN revisions r ON r.id = s.revision AND r.document = d.id
JOIN accesses sa ON sa.id = s.access AND sa.partition = d.partition
JOIN access_classes sc ON sc.id = sa.class AND sc.partition = d.partition
JOIN accesses ha ON ha.id = d.access AND ha.partition = d.partition
JOIN access_classes hc ON hc.id = ha.class AND hc.partition = d.partition;
