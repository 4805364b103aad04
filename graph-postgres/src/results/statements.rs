/// The statements of the cache, with the names of its tables.
///
/// No statement contains anything of a caller: names, values and times are parameters.
#[derive(Debug)]
pub(crate) struct Statements {
    pub(super) get: String,
    pub(super) put: String,
    pub(super) delete_some_expired: String,
    pub(super) delete_oldest: String,
    pub(super) clear_all: String,
    pub(super) clear_graph: String,
    pub(super) clear_node: String,
    pub(super) clear_expired: String,
}

/// The index on the digest of a key.
const DIGEST: &str = "sha256(sha256(graph) || sha256(node) || sha256(state) || sha256(key))";

impl Statements {
    /// `schema` is a quoted identifier.
    pub(crate) fn new(schema: &str) -> Self {
        let entry = format!("{schema}.cache_entry");
        let some = |which: &str, order: &str, limit: &str| {
            format!(
                "DELETE FROM {entry} WHERE id IN \
                 (SELECT id FROM {entry} WHERE {which} ORDER BY {order} LIMIT {limit} FOR UPDATE SKIP LOCKED)"
            )
        };
        Self {
            get: format!(
                "SELECT encoding, value FROM {entry} WHERE {DIGEST} = \
                 sha256(sha256($1::bytea) || sha256($2::bytea) || sha256($3::bytea) || sha256($4::bytea)) \
                 AND (expires IS NULL OR (made <= $5 AND expires > $5))"
            ),
            // The setting exists only in the transaction of the put: see `Once`.
            put: format!(
                "INSERT INTO {entry} (graph, node, state, key, encoding, value, made, expires) \
                 SELECT graph, node, state, key, encoding, value, $1, expires \
                 FROM unnest($2::bytea[], $3::bytea[], $4::bytea[], $5::bytea[], $6::smallint[], $7::bytea[], $8::bigint[]) \
                 WITH ORDINALITY AS put (graph, node, state, key, encoding, value, expires, nth) \
                 WHERE current_setting('superstep.transaction', true) = pg_current_xact_id()::text ORDER BY nth \
                 ON CONFLICT (({DIGEST})) DO UPDATE \
                 SET id = excluded.id, encoding = excluded.encoding, value = excluded.value, made = excluded.made, \
                 expires = excluded.expires"
            ),
            delete_some_expired: some("expires <= $1", "expires", "$2"),
            delete_oldest: some(&format!("id <= (SELECT max(id) FROM {entry}) - $1"), "id", "$2"),
            clear_all: format!("DELETE FROM {entry}"),
            clear_graph: format!("DELETE FROM {entry} WHERE sha256(graph) = sha256($1)"),
            clear_node: format!(
                "DELETE FROM {entry} WHERE sha256(graph) = sha256($1) AND sha256(node) = sha256($2)"
            ),
            clear_expired: format!("DELETE FROM {entry} WHERE expires <= $1"),
        }
    }
}
