-- Format 2 adds the long-term store.

-- `place` sorts like namespaces do, segment by segment: the bytes of each segment, with 00 written as 00 FF, followed
-- by 00 01. `name` has the segments as JSON, for people. A namespace without items has no row.
CREATE TABLE store_namespace (
    id    INTEGER PRIMARY KEY,
    place BLOB    NOT NULL UNIQUE,
    name  TEXT    NOT NULL
) STRICT;

-- Times are milliseconds since 1970. `ttl` is the time to live, `expires` the end of the item's current lifetime.
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

-- The vectors of an item, for search by meaning. Each number has 4 bytes, little-endian.
CREATE TABLE store_vector (
    id    INTEGER PRIMARY KEY,
    item  INTEGER NOT NULL,
    nth   INTEGER NOT NULL,
    model TEXT    NOT NULL,
    data  BLOB    NOT NULL,
    UNIQUE (item, nth)
) STRICT;

-- Views for people.

CREATE VIEW items AS
SELECT store_namespace.name AS namespace, store_item.key, store_item.value,
       strftime('%Y-%m-%d %H:%M:%f', store_item.created / 1000.0, 'unixepoch') AS created,
       strftime('%Y-%m-%d %H:%M:%f', store_item.updated / 1000.0, 'unixepoch') AS updated,
       strftime('%Y-%m-%d %H:%M:%f', store_item.expires / 1000.0, 'unixepoch') AS expires
FROM store_item
JOIN store_namespace ON store_namespace.id = store_item.namespace
ORDER BY store_namespace.place, store_item.key;
