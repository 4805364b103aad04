-- Copies and deletions cost as much as their thread, whatever the statistics of the tables say: a join with a table is a
-- lateral query behind `OFFSET 0`, or a list of ids, so that it can only be made by an index.

CREATE OR REPLACE FUNCTION delete_thread(known integer, of_name bytea, expected bigint)
RETURNS TABLE (outcome smallint, epoch bigint, head uuid) LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET lock_timeout = '10s'
AS $superstep$
#variable_conflict use_column
DECLARE
    t thread%ROWTYPE;
    spaces bigint[];
    branches bigint[];
BEGIN
    PERFORM check_format(known);
    PERFORM pg_advisory_xact_lock(lock_of(of_name));
    SELECT * INTO t FROM thread x WHERE sha256(x.name) = sha256(of_name);
    IF NOT FOUND THEN
        outcome := 2;
    ELSIF expected <> t.epoch THEN
        outcome := 1;
        epoch := t.epoch;
        SELECT x.head INTO head FROM namespace x WHERE x.thread = t.id AND sha256(x.name) = sha256(''::bytea);
    ELSE
        outcome := 0;
        spaces := ARRAY(SELECT x.id FROM namespace x WHERE x.thread = t.id);
        branches := ARRAY(SELECT x.id FROM branch x WHERE x.namespace = ANY(spaces));
        DELETE FROM record WHERE namespace = ANY(spaces);
        DELETE FROM checkpoint WHERE namespace = ANY(spaces);
        DELETE FROM piece WHERE branch = ANY(branches);
        DELETE FROM branch WHERE id = ANY(branches);
        DELETE FROM field WHERE namespace = ANY(spaces);
        DELETE FROM namespace WHERE thread = t.id;
        DELETE FROM run WHERE thread = t.id;
        DELETE FROM thread WHERE id = t.id;
    END IF;
    RETURN NEXT;
END
$superstep$;

CREATE OR REPLACE FUNCTION copy_thread(known integer, from_name bytea, to_name bytea, expected bigint, new_token bigint)
RETURNS TABLE (outcome smallint, epoch bigint, head uuid) LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET lock_timeout = '10s'
AS $superstep$
#variable_conflict use_column
DECLARE
    t thread%ROWTYPE;
    old_id bigint;
    existing bigint;
BEGIN
    PERFORM check_format(known);
    PERFORM pg_advisory_xact_lock(l) FROM (
        SELECT DISTINCT lock_of(name) AS l FROM unnest(ARRAY[from_name, to_name]) AS name ORDER BY 1
    ) AS locks;
    SELECT * INTO t FROM thread x WHERE sha256(x.name) = sha256(from_name);
    IF NOT FOUND THEN
        outcome := 2;
        RETURN NEXT;
        RETURN;
    END IF;
    IF expected <> t.epoch THEN
        outcome := 1;
        epoch := t.epoch;
        SELECT x.head INTO head FROM namespace x WHERE x.thread = t.id AND sha256(x.name) = sha256(''::bytea);
        RETURN NEXT;
        RETURN;
    END IF;
    SELECT x.token INTO existing FROM thread x WHERE sha256(x.name) = sha256(to_name);
    IF FOUND THEN
        -- The copy may have been made before its answer was lost.
        outcome := CASE existing WHEN new_token THEN 0 ELSE 3 END;
        RETURN NEXT;
        RETURN;
    END IF;
    old_id := t.id;
    INSERT INTO thread (name, origin, epoch, status, wakes, changed, tags, token)
    VALUES (to_name, t.origin, t.epoch, t.status, t.wakes, t.changed, t.tags, new_token) RETURNING * INTO t;
    WITH spaces AS MATERIALIZED (
        SELECT x.*, nextval(pg_get_serial_sequence('namespace', 'id')) AS new FROM namespace x WHERE x.thread = old_id
    ), copied_runs AS MATERIALIZED (
        SELECT x.*, nextval(pg_get_serial_sequence('run', 'id')) AS new FROM run x WHERE x.thread = old_id
    ), branches AS MATERIALIZED (
        SELECT x.*, s.new AS new_namespace, nextval(pg_get_serial_sequence('branch', 'id')) AS new
        FROM spaces s CROSS JOIN LATERAL (SELECT * FROM branch y WHERE y.namespace = s.id OFFSET 0) AS x ORDER BY x.id
    ), fields AS MATERIALIZED (
        SELECT x.*, s.new AS new_namespace, nextval(pg_get_serial_sequence('field', 'id')) AS new
        FROM spaces s CROSS JOIN LATERAL (SELECT * FROM field y WHERE y.namespace = s.id OFFSET 0) AS x
    ), into_run AS (
        INSERT INTO run (id, thread, name, program, metadata, tags)
        SELECT new, t.id, name, program, metadata, tags FROM copied_runs
    ), into_branch AS (
        INSERT INTO branch (id, namespace, parent, fork, start, tip, depth)
        SELECT b.new, b.new_namespace, p.new, b.fork, b.start, b.tip, b.depth
        FROM branches b LEFT JOIN branches p ON p.id = b.parent
    ), into_namespace AS (
        INSERT INTO namespace (id, thread, branch, head, name)
        SELECT s.new, t.id, b.new, s.head, s.name FROM spaces s LEFT JOIN branches b ON b.id = s.branch
    ), into_field AS (
        INSERT INTO field (id, namespace, name) SELECT new, new_namespace, name FROM fields
    ), into_piece AS (
        INSERT INTO piece (branch, field, first, before, loose, whole, entries, data)
        SELECT b.new, f.new, p.first, p.before, p.loose, p.whole, p.entries, p.data
        FROM branches b CROSS JOIN LATERAL (SELECT * FROM piece y WHERE y.branch = b.id OFFSET 0) AS p
        JOIN fields f ON f.id = p.field
    ), into_checkpoint AS (
        INSERT INTO checkpoint (namespace, branch, run, step, created, token, id, parent, progress_encoding, source, next,
                                progress)
        SELECT s.new, b.new, r.new, c.step, c.created, c.token, c.id, c.parent, c.progress_encoding, c.source, c.next,
               c.progress
        FROM spaces s CROSS JOIN LATERAL (SELECT * FROM checkpoint y WHERE y.namespace = s.id OFFSET 0) AS c
        LEFT JOIN branches b ON b.id = c.branch LEFT JOIN copied_runs r ON r.id = c.run
    )
    INSERT INTO record (namespace, task, checkpoint, kind, encoding, key, payload)
    SELECT s.new, k.task, k.checkpoint, k.kind, k.encoding, k.key, k.payload
    FROM spaces s CROSS JOIN LATERAL (SELECT * FROM record y WHERE y.namespace = s.id OFFSET 0) AS k;
    outcome := 0;
    RETURN NEXT;
END
$superstep$;
