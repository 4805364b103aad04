use rusqlite::{Connection, params};
use superstep_store::checkpoint::Page;
use superstep_store::store::{Namespace, NamespaceQuery};

use crate::columns::millis;

use super::ItemError;
use super::row::read_namespace;

/// Lists namespaces that contain an item.
pub(crate) fn list(db: &Connection, query: &NamespaceQuery) -> Result<Page<Namespace>, ItemError> {
    let from = query.prefix.sort_key();
    let to = [&*from, &[0xff]].concat();
    let mut statement = db.prepare_cached(
        "SELECT place FROM store_namespace n WHERE place >= ?1 AND place < ?2 AND EXISTS \
         (SELECT 1 FROM store_item i WHERE i.namespace = n.id AND (i.expires IS NULL OR i.expires > ?3)) ORDER BY place",
    )?;
    let mut rows = statement.query(params![from, to, millis(query.now)])?;
    let limit = query.limit.unwrap_or(usize::MAX);
    let mut items: Vec<Namespace> = Vec::new();
    let mut skipped = 0;
    let mut last = None;
    while let Some(row) = rows.next()? {
        let Some(shown) = query.shown(&read_namespace(row.get_ref(0)?)?) else { continue };
        // Rows are sorted, so equal results are adjacent.
        if last.as_ref() == Some(&shown) {
            continue;
        }
        last = Some(shown.clone());
        if skipped < query.offset {
            skipped += 1;
        } else if items.len() < limit {
            items.push(shown);
        } else {
            return Ok(Page::new(items, true));
        }
    }
    Ok(Page::new(items, false))
}
