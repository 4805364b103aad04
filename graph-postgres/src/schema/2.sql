-- The long-term store.

-- `name` is the namespace and the key of an item, as bytes that sort like items: see `item_namespace` and `item_key`. Times
-- are milliseconds since 1970. `ttl` is the time to live, `expires` the end of the item's current lifetime.
CREATE TABLE store_item (
    id       bigint   GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name     bytea    NOT NULL,
    encoding smallint NOT NULL,
    value    bytea    NOT NULL,
    created  bigint   NOT NULL,
    updated  bigint   NOT NULL,
    ttl      bigint,
    expires  bigint
);
-- A name may be longer than an entry of an index. The digest finds one item; the beginning of the name finds a range.
CREATE UNIQUE INDEX store_item_by_digest ON store_item (sha256(name));
CREATE INDEX store_item_by_name ON store_item (substring(name from 1 for 1024));
CREATE INDEX store_item_by_expiry ON store_item (expires) WHERE expires IS NOT NULL;

-- The vectors of an item, for semantic search.
CREATE TABLE store_vector (
    item    bigint  NOT NULL REFERENCES store_item ON DELETE CASCADE,
    nth     integer NOT NULL,
    model   bytea   NOT NULL,
    numbers real[]  NOT NULL,
    PRIMARY KEY (item, nth)
);

-- Writes items in the order of the arrays and returns for each whether it existed. An item without an encoding is
-- deleted. `anew` is true if the item was deleted by the same call before. The caller has sorted the names, so two calls
-- lock items in the same order. At most `sweep` expired items are deleted then. The transaction has to be the caller's: without it, a lost answer could not be resolved.
CREATE FUNCTION write_items(
    at bigint, names bytea[], encodings smallint[], contents bytea[], anew boolean[], ttls bigint[], ends bigint[],
    sweep bigint
) RETURNS SETOF boolean LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    write record;
    found_item record;
    is_live boolean;
BEGIN
    IF current_setting('superstep.transaction', true) IS DISTINCT FROM pg_current_xact_id()::text THEN
        RAISE EXCEPTION 'the transaction of the write has not begun' USING ERRCODE = 'no_active_sql_transaction';
    END IF;
    FOR write IN
        SELECT * FROM unnest(names, encodings, contents, anew, ttls, ends) AS w (name, encoding, content, anew, ttl, ends)
    LOOP
        LOOP
            SELECT i.id, i.created, i.expires INTO found_item
            FROM store_item i WHERE sha256(i.name) = sha256(write.name) FOR UPDATE;
            IF FOUND THEN
                is_live := found_item.expires IS NULL OR found_item.expires > at;
                IF write.encoding IS NULL THEN
                    DELETE FROM store_item i WHERE i.id = found_item.id;
                ELSE
                    DELETE FROM store_vector v WHERE v.item = found_item.id;
                    UPDATE store_item i
                    SET encoding = write.encoding, value = write.content, updated = at, ttl = write.ttl,
                        created = CASE WHEN is_live AND NOT write.anew THEN i.created ELSE at END,
                        expires = write.ends
                    WHERE i.id = found_item.id;
                END IF;
                RETURN NEXT is_live;
                EXIT;
            END IF;
            IF write.encoding IS NULL THEN
                RETURN NEXT false;
                EXIT;
            END IF;
            INSERT INTO store_item (name, encoding, value, created, updated, ttl, expires)
            VALUES (write.name, write.encoding, write.content, at, at, write.ttl, write.ends)
            ON CONFLICT DO NOTHING;
            IF FOUND THEN
                RETURN NEXT false;
                EXIT;
            END IF;
            -- Another transaction has inserted the item since the select.
        END LOOP;
    END LOOP;
    -- A transaction that has locked an expired item deletes or replaces it: do not wait for it.
    DELETE FROM store_item WHERE id IN (
        SELECT id FROM store_item WHERE expires <= at ORDER BY expires LIMIT sweep FOR UPDATE SKIP LOCKED
    );
END
$$;

-- Views for people.

-- Returns bytes as a JSON string. `zero` is how the bytes spell the null character, which text cannot hold.
CREATE FUNCTION json_string(bytes bytea, zero bytea) RETURNS text LANGUAGE plpgsql IMMUTABLE SET search_path FROM CURRENT AS $$
DECLARE
    rest bytea := bytes;
    ends integer;
    part text;
    shown text := '';
BEGIN
    LOOP
        ends := position(zero in rest);
        part := CASE ends WHEN 0 THEN convert_from(rest, 'UTF8') ELSE convert_from(substring(rest from 1 for ends - 1), 'UTF8') END;
        part := to_json(part)::text;
        shown := shown || substr(part, 2, length(part) - 2);
        EXIT WHEN ends = 0;
        shown := shown || E'\\u0000';
        rest := substring(rest from ends + length(zero));
    END LOOP;
    RETURN '"' || shown || '"';
END
$$;

-- Returns the segments of the namespace of an item as JSON. In a name, each segment is followed by 00 01, a null character
-- in a segment is 00 FF, and the key follows on 00 00.
CREATE FUNCTION item_namespace(name bytea) RETURNS text LANGUAGE plpgsql IMMUTABLE SET search_path FROM CURRENT AS $$
DECLARE
    rest bytea := substring(name from 1 for position(E'\\x0000'::bytea in name) - 1);
    ends integer;
    shown text := '';
BEGIN
    LOOP
        ends := position(E'\\x0001'::bytea in rest);
        EXIT WHEN ends = 0;
        shown := shown || CASE shown WHEN '' THEN '' ELSE ',' END
            || json_string(substring(rest from 1 for ends - 1), E'\\x00ff'::bytea);
        rest := substring(rest from ends + 2);
    END LOOP;
    RETURN '[' || shown || ']';
END
$$;

-- Returns the key of an item. A key with a null character is shown as JSON.
CREATE FUNCTION item_key(name bytea) RETURNS text LANGUAGE plpgsql IMMUTABLE SET search_path FROM CURRENT AS $$
DECLARE
    key bytea := substring(name from position(E'\\x0000'::bytea in name) + 2);
BEGIN
    RETURN CASE position(E'\\x00'::bytea in key) WHEN 0 THEN convert_from(key, 'UTF8') ELSE json_string(key, E'\\x00'::bytea) END;
END
$$;

CREATE VIEW items AS
SELECT item_namespace(name) AS namespace, item_key(name) AS key,
       CASE encoding WHEN 0 THEN convert_from(value, 'UTF8') ELSE encode(value, 'hex') END AS value,
       to_timestamp(created / 1000.0) AS created, to_timestamp(updated / 1000.0) AS updated,
       to_timestamp(expires / 1000.0) AS expires
FROM store_item
ORDER BY name;
