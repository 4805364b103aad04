use rusqlite::{Connection, params};
use superstep_store::cache::Clear;

use crate::stored::millis;
use crate::trouble::Trouble;
use crate::writer::{Session, Turn};

/// How many results one transaction takes away: so long do other writers wait.
const TURN: i64 = 512;

/// A clearing that is under way, one short transaction after the other.
#[derive(Debug)]
pub(crate) struct Clearing {
    which: Clear,
    cleared: u64,
}

impl Clearing {
    pub(crate) fn new(which: Clear) -> Self {
        Self { which, cleared: 0 }
    }

    /// Does what fits into one transaction.
    pub(crate) fn turn(&mut self, session: &Session) -> Result<Turn<u64>, Trouble> {
        let cleared = some(&session.db, &self.which)?;
        if cleared == 0 {
            return Ok(Turn::Done(self.cleared));
        }
        self.cleared += cleared;
        Ok(Turn::More)
    }
}

fn some(db: &Connection, which: &Clear) -> Result<u64, Trouble> {
    let cleared = match which {
        Clear::All => db
            .prepare_cached("DELETE FROM cache_entry WHERE id IN (SELECT id FROM cache_entry LIMIT ?1)")?
            .execute([TURN])?,
        Clear::OfGraph(graph) => db
            .prepare_cached(
                "DELETE FROM cache_entry WHERE id IN (SELECT id FROM cache_entry WHERE graph = ?1 LIMIT ?2)",
            )?
            .execute(params![&**graph, TURN])?,
        Clear::OfNode { graph, node } => db
            .prepare_cached(
                "DELETE FROM cache_entry WHERE id IN \
                 (SELECT id FROM cache_entry WHERE graph = ?1 AND node = ?2 LIMIT ?3)",
            )?
            .execute(params![&**graph, &**node, TURN])?,
        Clear::Expired { now } => return expired(db, millis(*now), TURN),
    };
    Ok(cleared as u64)
}

/// Takes at most so many expired results away; how many that were.
pub(super) fn expired(db: &Connection, now: i64, most: i64) -> Result<u64, Trouble> {
    let mut delete = db.prepare_cached(
        "DELETE FROM cache_entry WHERE id IN \
         (SELECT id FROM cache_entry WHERE expires <= ?1 ORDER BY expires LIMIT ?2)",
    )?;
    Ok(delete.execute([now, most])? as u64)
}
