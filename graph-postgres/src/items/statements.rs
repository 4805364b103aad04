/// The statements of the long-term store, with the names of its tables.
///
/// No statement contains anything of a caller: names, values and times are parameters.
#[derive(Debug)]
pub(crate) struct Statements {
    pub(super) schema: String,
    pub(super) get: String,
    pub(super) write: String,
    pub(super) insert_vector: String,
    pub(super) refresh: String,
    pub(super) delete_expired: String,
    pub(super) page: [String; 2],
    pub(super) scan: [String; 2],
    pub(super) scan_vectors: [String; 2],
    pub(super) by_ids: String,
    pub(super) namespaces: String,
}

/// The columns of `store_item i` that [`StoredItem::read`](super::row::StoredItem::read) reads.
const COLUMNS: &str = "i.id, i.name, i.encoding, i.value, i.created, i.updated, i.ttl, i.expires";

/// The items with a name from $1 to before $2 that exist at the time $3. The index has the beginnings of the names.
pub(super) const SCOPE: &str = "substring(i.name from 1 for 1024) >= substring($1::bytea from 1 for 1024) \
     AND substring(i.name from 1 for 1024) <= substring($2::bytea from 1 for 1024) \
     AND i.name >= $1 AND i.name < $2 AND (i.expires IS NULL OR i.expires > $3)";

/// The orders of a search: by name, and newest first. The beginning of the name comes first, because it is in the index.
pub(super) const ORDERS: [&str; 2] = [
    "substring(i.name from 1 for 1024), i.name",
    "i.updated DESC, substring(i.name from 1 for 1024), i.name",
];

impl Statements {
    /// `schema` is a quoted identifier.
    pub(crate) fn new(schema: &str) -> Self {
        let item = format!("{schema}.store_item");
        let vector = format!("{schema}.store_vector");
        let ordered = |statement: &dyn Fn(&str) -> String| ORDERS.map(statement);
        Self {
            // The limit makes the server look up one name after the other, whatever it knows about the table.
            get: format!(
                "SELECT {COLUMNS}, wanted.nth FROM unnest($1::bytea[]) WITH ORDINALITY AS wanted (name, nth) \
                 CROSS JOIN LATERAL (SELECT * FROM {item} i WHERE sha256(i.name) = sha256(wanted.name) LIMIT 1) i \
                 WHERE i.expires IS NULL OR i.expires > $2"
            ),
            write: format!("SELECT * FROM {schema}.write_items($1, $2, $3, $4, $5, $6, $7, $8)"),
            insert_vector: format!(
                "INSERT INTO {vector} (item, nth, model, numbers) \
                 SELECT i.id, $2, $3, $4 FROM {item} i WHERE sha256(i.name) = sha256($1)"
            ),
            // Rows are locked in the order of their names, as by every other call.
            refresh: format!(
                "WITH wanted AS MATERIALIZED (SELECT i.id, w.ends FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) \
                 AS w (id, ttl, ends) JOIN {item} i ON i.id = w.id AND i.ttl = w.ttl \
                 WHERE i.expires > $4 ORDER BY i.name FOR UPDATE OF i) \
                 UPDATE {item} i SET expires = greatest(i.expires, w.ends) FROM wanted w WHERE i.id = w.id"
            ),
            delete_expired: format!(
                "WITH found AS MATERIALIZED (SELECT id FROM {item} WHERE expires <= $1 ORDER BY expires LIMIT $2), \
                 locked AS MATERIALIZED (SELECT i.id FROM found f JOIN {item} i ON i.id = f.id WHERE i.expires <= $1 \
                 ORDER BY i.name FOR UPDATE OF i), \
                 deleted AS (DELETE FROM {item} i USING locked l WHERE i.id = l.id RETURNING i.id) \
                 SELECT (SELECT count(*) FROM found), (SELECT count(*) FROM deleted)"
            ),
            page: ordered(&|order| {
                format!("SELECT {COLUMNS} FROM {item} i WHERE {SCOPE} ORDER BY {order} OFFSET $4 LIMIT $5")
            }),
            scan: ordered(&|order| {
                format!(
                    "DECLARE scan NO SCROLL CURSOR FOR SELECT {COLUMNS} FROM {item} i WHERE {SCOPE} \
                     AND ($4 OR EXISTS (SELECT 1 FROM {vector} v WHERE v.item = i.id)) ORDER BY {order}"
                )
            }),
            scan_vectors: ordered(&|order| {
                format!(
                    "DECLARE scan NO SCROLL CURSOR FOR SELECT i.id, i.name, v.model, v.numbers FROM {item} i \
                     JOIN {vector} v ON v.item = i.id WHERE {SCOPE} AND ($4::bigint[] IS NULL OR i.id = ANY($4)) \
                     ORDER BY {order}, v.nth"
                )
            }),
            by_ids: format!("SELECT {COLUMNS} FROM {item} i WHERE i.id = ANY($1)"),
            namespaces: namespaces(&item),
            schema: schema.to_owned(),
        }
    }
}

/// Lists the paths of namespaces from the name $1 to before $2. Each step looks up the first item after the namespace of
/// the previous one, so a namespace costs the same however many items it has.
fn namespaces(item: &str) -> String {
    let path = "CASE position(E'\\\\x0000'::bytea in i.name) WHEN 0 THEN i.name \
        ELSE substring(i.name from 1 for position(E'\\\\x0000'::bytea in i.name) - 1) END";
    let first = |from: &str| {
        let scope = SCOPE.replace("$1::bytea", from).replace("$1", from);
        format!("SELECT {path} FROM {item} i WHERE {scope} ORDER BY {} LIMIT 1", ORDERS[0])
    };
    let (start, next) = (first("$1::bytea"), first("(n.path || E'\\\\x0001'::bytea)"));
    format!(
        "WITH RECURSIVE n (path) AS (({start}) UNION ALL SELECT ({next}) FROM n WHERE n.path IS NOT NULL) \
         SELECT path FROM n WHERE path IS NOT NULL LIMIT $4"
    )
}
