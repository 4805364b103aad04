-- Format 3 adds the cache of node results.

-- Times are milliseconds since 1970. A result with `expires` is valid from `made` until then, and at no other time.
CREATE TABLE cache_entry (
    id       INTEGER PRIMARY KEY,
    graph    TEXT    NOT NULL,
    node     TEXT    NOT NULL,
    state    TEXT    NOT NULL,
    key      TEXT    NOT NULL,
    encoding INTEGER NOT NULL,
    value    ANY     NOT NULL,
    made     INTEGER NOT NULL,
    expires  INTEGER,
    UNIQUE (graph, node, state, key)
) STRICT;
CREATE INDEX cache_entry_by_expiry ON cache_entry (expires) WHERE expires IS NOT NULL;

-- Views for people.

CREATE VIEW results AS
SELECT graph, node, state, key, value,
       strftime('%Y-%m-%d %H:%M:%f', made / 1000.0, 'unixepoch') AS made,
       strftime('%Y-%m-%d %H:%M:%f', expires / 1000.0, 'unixepoch') AS expires
FROM cache_entry
ORDER BY graph, node, state, key;
