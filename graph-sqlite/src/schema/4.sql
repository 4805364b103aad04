-- Format 4 adds the status of threads, so that a list reads only the threads that it returns.

-- `status` is a code: see the view `threads`. `wakes` is the time from which the thread is due, in milliseconds since
-- 1970. It is null if the thread is never due, and the least integer while the status is unknown.
ALTER TABLE thread ADD COLUMN status INTEGER NOT NULL DEFAULT 0;
ALTER TABLE thread ADD COLUMN wakes INTEGER DEFAULT -9223372036854775808;

-- Finished threads of older programs: their newest checkpoint plans no node, and no caller has added one (record kind
-- 7). The other threads keep the status `unknown` until their next run.
UPDATE thread SET status = 1, wakes = NULL
WHERE EXISTS (
    SELECT 1 FROM namespace
    JOIN checkpoint ON checkpoint.namespace = namespace.id
    WHERE namespace.thread = thread.id AND namespace.name = '' AND checkpoint.next = '[]'
      AND checkpoint.name = (SELECT max(name) FROM checkpoint WHERE namespace = namespace.id)
      AND NOT EXISTS (
          SELECT 1 FROM record
          WHERE record.checkpoint = checkpoint.id AND record.task = 4294967295 AND record.kind = 7
      )
);

CREATE INDEX thread_unfinished ON thread (name) WHERE status <> 1;
CREATE INDEX thread_by_wake ON thread (wakes, name) WHERE wakes IS NOT NULL;

-- Views for people.

CREATE VIEW threads AS
SELECT name AS thread, epoch,
       CASE status WHEN 0 THEN 'unknown' WHEN 1 THEN 'finished' WHEN 2 THEN 'running' WHEN 3 THEN 'waiting for answers'
            WHEN 4 THEN 'waiting for a time' WHEN 5 THEN 'at a breakpoint' WHEN 6 THEN 'failed' WHEN 7 THEN 'at a limit'
            WHEN 8 THEN 'stopped' ELSE status END AS status,
       CASE status WHEN 0 THEN NULL ELSE strftime('%Y-%m-%d %H:%M:%f', wakes / 1000.0, 'unixepoch') END AS wakes
FROM thread
ORDER BY name;
