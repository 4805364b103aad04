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
