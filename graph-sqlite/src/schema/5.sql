-- Format 5 adds rolling back, requests, and lists of threads by status, metadata and time.

-- `first` is the first checkpoint of the branch. Pruning may have dropped it. In a branch of an older file, it is the first
-- checkpoint that remains or at which another branch starts.
ALTER TABLE line ADD COLUMN first TEXT;
UPDATE line SET first = least.name
FROM (
    SELECT line, min(name) AS name FROM (
        SELECT line, name FROM checkpoint UNION ALL SELECT parent, fork FROM line WHERE parent IS NOT NULL
    ) GROUP BY line
) AS least
WHERE least.line = line.id;

-- `since`: every checkpoint of the run has a greater row id. Within a namespace, row ids sort like checkpoints. It is null in
-- older files and in copies.
ALTER TABLE run ADD COLUMN since INTEGER;

-- `request_in` is the namespace of a request (record kind 12), and null for any other record.
ALTER TABLE record ADD COLUMN request_in INTEGER;
CREATE INDEX record_by_request ON record (request_in, key) WHERE request_in IS NOT NULL;

-- `rank` is the negative time of the last change of the status, in milliseconds since 1970, so that the newest threads sort
-- first. It is the greatest integer if the time is unknown. Lists merge the threads of each status.
ALTER TABLE thread ADD COLUMN rank INTEGER NOT NULL DEFAULT 9223372036854775807;
DROP INDEX thread_unfinished;
DROP INDEX thread_by_wake;
CREATE INDEX thread_by_status ON thread (status, name);
CREATE INDEX thread_by_wake ON thread (status, wakes, name) WHERE wakes IS NOT NULL;
CREATE INDEX thread_by_rank ON thread (status, rank, name);

-- The keys and values of metadata of the newest run in the root namespace of each thread. `entry` is a digest of key and
-- value. The name and the rank are those of the thread.
CREATE TABLE thread_metadata (
    id     INTEGER PRIMARY KEY,
    thread INTEGER NOT NULL,
    entry  INTEGER NOT NULL,
    name   TEXT    NOT NULL,
    rank   INTEGER NOT NULL,
    UNIQUE (thread, entry)
) STRICT;
CREATE INDEX thread_metadata_by_name ON thread_metadata (entry, name);
CREATE INDEX thread_metadata_by_rank ON thread_metadata (entry, rank, name);

-- Views for people.

DROP VIEW records;
CREATE VIEW records AS
SELECT thread.name AS thread, namespace.name AS namespace, checkpoint.name AS checkpoint,
       CASE record.task WHEN 4294967295 THEN NULL ELSE record.task END AS task,
       CASE record.kind WHEN 0 THEN 'write' WHEN 1 THEN 'finished' WHEN 2 THEN 'failed' WHEN 3 THEN 'interrupt'
            WHEN 4 THEN 'answer' WHEN 5 THEN 'step' WHEN 6 THEN 'patch' WHEN 7 THEN 'goto' WHEN 8 THEN 'breakpoint'
            WHEN 9 THEN 'stopped' WHEN 10 THEN 'sleep' WHEN 11 THEN 'retained' WHEN 12 THEN 'request'
            ELSE record.kind END AS kind,
       record.key, record.payload
FROM record
JOIN checkpoint ON checkpoint.id = record.checkpoint
JOIN namespace ON namespace.id = checkpoint.namespace
JOIN thread ON thread.id = namespace.thread
ORDER BY thread.name, namespace.name, checkpoint.name, record.task, record.kind, record.key;

DROP VIEW threads;
CREATE VIEW threads AS
SELECT name AS thread, epoch,
       CASE status WHEN 0 THEN 'unknown' WHEN 1 THEN 'finished' WHEN 2 THEN 'running' WHEN 3 THEN 'waiting for answers'
            WHEN 4 THEN 'waiting for a time' WHEN 5 THEN 'at a breakpoint' WHEN 6 THEN 'failed' WHEN 7 THEN 'at a limit'
            WHEN 8 THEN 'stopped' ELSE status END AS status,
       CASE rank WHEN 9223372036854775807 THEN NULL
            ELSE strftime('%Y-%m-%d %H:%M:%f', -rank / 1000.0, 'unixepoch') END AS changed,
       CASE status WHEN 0 THEN NULL ELSE strftime('%Y-%m-%d %H:%M:%f', wakes / 1000.0, 'unixepoch') END AS wakes
FROM thread
ORDER BY name;
