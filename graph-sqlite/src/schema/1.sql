-- Format 1. Checkpoint ids are stored as text, and sort in the order in which the checkpoints were created.

CREATE TABLE thread (
    id     INTEGER PRIMARY KEY,
    name   TEXT    NOT NULL UNIQUE,
    epoch  INTEGER NOT NULL,
    origin TEXT    NOT NULL
) STRICT;

CREATE TABLE namespace (
    id     INTEGER PRIMARY KEY,
    thread INTEGER NOT NULL,
    name   TEXT    NOT NULL,
    UNIQUE (thread, name)
) STRICT;

CREATE TABLE run (
    id       INTEGER PRIMARY KEY,
    thread   INTEGER NOT NULL,
    name     TEXT    NOT NULL,
    program  TEXT    NOT NULL,
    metadata TEXT    NOT NULL
) STRICT;
CREATE INDEX run_by_name ON run (thread, name);

-- A branch: checkpoints that follow each other without a fork. `fork` is the checkpoint of the parent branch that the
-- first checkpoint of this branch follows. `tip` is the branch's last checkpoint. It is set only on branches without
-- the newest checkpoint.
CREATE TABLE line (
    id        INTEGER PRIMARY KEY,
    namespace INTEGER NOT NULL,
    parent    INTEGER,
    fork      TEXT,
    depth     INTEGER NOT NULL,
    tip       TEXT
) STRICT;
CREATE INDEX line_by_namespace ON line (namespace);

CREATE TABLE checkpoint (
    id                INTEGER PRIMARY KEY,
    namespace         INTEGER NOT NULL,
    name              TEXT    NOT NULL,
    line              INTEGER NOT NULL,
    parent            TEXT,
    step              INTEGER NOT NULL,
    source            TEXT    NOT NULL,
    run               INTEGER NOT NULL,
    created           INTEGER NOT NULL,
    next              TEXT    NOT NULL,
    progress_encoding INTEGER,
    progress          ANY,
    UNIQUE (namespace, name)
) STRICT;

CREATE TABLE field (
    id        INTEGER PRIMARY KEY,
    namespace INTEGER NOT NULL,
    name      TEXT    NOT NULL,
    UNIQUE (namespace, name)
) STRICT;

-- The changes of a field on a branch, ordered by `first`, the checkpoint of the row's first entry.
-- - A row without `entries` has one entry, of `encoding`.
-- - `entries` has 21 bytes per entry: the checkpoint (16), the encoding with the top bit set for a value (1), and the
--   number
--   of bytes in `data` (4, little-endian). A line feed separates entries in `data`.
-- - `whole`: the first entry is a value.
-- - `before`: the number of entries that the field has before this row, since the latest value.
-- - `loose`: the number of rows up to this one that are not compacted into chunks yet.
CREATE TABLE piece (
    id       INTEGER PRIMARY KEY,
    line     INTEGER NOT NULL,
    field    INTEGER NOT NULL,
    first    TEXT    NOT NULL,
    whole    INTEGER NOT NULL,
    before   INTEGER NOT NULL,
    loose    INTEGER NOT NULL,
    encoding INTEGER,
    entries  BLOB,
    data     ANY     NOT NULL,
    UNIQUE (line, field, first)
) STRICT;

CREATE TABLE record (
    id         INTEGER PRIMARY KEY,
    checkpoint INTEGER NOT NULL,
    task       INTEGER NOT NULL,
    kind       INTEGER NOT NULL,
    key        TEXT    NOT NULL,
    encoding   INTEGER NOT NULL,
    payload    ANY     NOT NULL,
    UNIQUE (checkpoint, task, kind, key)
) STRICT;

-- Views for people.

CREATE VIEW checkpoints AS
SELECT thread.name AS thread, namespace.name AS namespace, checkpoint.name AS checkpoint, checkpoint.parent,
       checkpoint.step, checkpoint.source, run.name AS run,
       strftime('%Y-%m-%d %H:%M:%f', checkpoint.created / 1000.0, 'unixepoch') AS created, checkpoint.next, run.metadata
FROM checkpoint
JOIN namespace ON namespace.id = checkpoint.namespace
JOIN thread ON thread.id = namespace.thread
LEFT JOIN run ON run.id = checkpoint.run
ORDER BY thread.name, namespace.name, checkpoint.name;

CREATE VIEW pieces AS
SELECT thread.name AS thread, namespace.name AS namespace, field.name AS field, piece.line, piece.first,
       CASE piece.whole WHEN 0 THEN 'delta' ELSE 'value' END AS kind, coalesce(length(piece.entries) / 21, 1) AS entries,
       piece.data
FROM piece
JOIN field ON field.id = piece.field
JOIN namespace ON namespace.id = field.namespace
JOIN thread ON thread.id = namespace.thread
ORDER BY thread.name, namespace.name, field.name, piece.line, piece.first;

CREATE VIEW records AS
SELECT thread.name AS thread, namespace.name AS namespace, checkpoint.name AS checkpoint,
       CASE record.task WHEN 4294967295 THEN NULL ELSE record.task END AS task,
       CASE record.kind WHEN 0 THEN 'write' WHEN 1 THEN 'finished' WHEN 2 THEN 'failed' WHEN 3 THEN 'interrupt'
            WHEN 4 THEN 'answer' WHEN 5 THEN 'step' WHEN 6 THEN 'patch' WHEN 7 THEN 'goto' WHEN 8 THEN 'gate'
            ELSE record.kind END AS kind,
       record.key, record.payload
FROM record
JOIN checkpoint ON checkpoint.id = record.checkpoint
JOIN namespace ON namespace.id = checkpoint.namespace
JOIN thread ON thread.id = namespace.thread
ORDER BY thread.name, namespace.name, checkpoint.name, record.task, record.kind, record.key;
