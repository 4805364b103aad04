-- Format 2 has the long-term store beside the checkpoints.

-- `place` sorts as namespaces do, segment by segment: the bytes of each segment, in which 00 is 00 FF, and behind each 00 01.
-- `name` is the same for people: the segments as JSON. A namespace without items is not here.
CREATE TABLE store_namespace (
    id    INTEGER PRIMARY KEY,
    place BLOB    NOT NULL UNIQUE,
    name  TEXT    NOT NULL
) STRICT;

-- Times are milliseconds since 1970. `ttl` is how long the item lives when that begins anew, `expires` when its time is up.
CREATE TABLE store_item (
    id        INTEGER PRIMARY KEY,
    namespace INTEGER NOT NULL,
    key       TEXT    NOT NULL,
    encoding  INTEGER NOT NULL,
    value     ANY     NOT NULL,
    created   INTEGER NOT NULL,
    updated   INTEGER NOT NULL,
    ttl       INTEGER,
    expires   INTEGER,
    UNIQUE (namespace, key)
) STRICT;
CREATE INDEX store_item_by_expiry ON store_item (expires) WHERE expires IS NOT NULL;

-- What an item is found by: the numbers of each vector, 4 bytes each, little-endian.
CREATE TABLE store_vector (
    id    INTEGER PRIMARY KEY,
    item  INTEGER NOT NULL,
    nth   INTEGER NOT NULL,
    model TEXT    NOT NULL,
    data  BLOB    NOT NULL,
    UNIQUE (item, nth)
) STRICT;

-- For people.

CREATE VIEW items AS
SELECT store_namespace.name AS namespace, store_item.key, store_item.value,
       strftime('%Y-%m-%d %H:%M:%f', store_item.created / 1000.0, 'unixepoch') AS created,
       strftime('%Y-%m-%d %H:%M:%f', store_item.updated / 1000.0, 'unixepoch') AS updated,
       strftime('%Y-%m-%d %H:%M:%f', store_item.expires / 1000.0, 'unixepoch') AS expires
FROM store_item
JOIN store_namespace ON store_namespace.id = store_item.namespace
ORDER BY store_namespace.place, store_item.key;
