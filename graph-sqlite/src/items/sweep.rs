use std::time::SystemTime;

use rusqlite::Connection;

use crate::stored::millis;
use crate::trouble::Trouble;
use crate::writer::{Session, Turn};

use super::put::remove;
use super::{Fault, settle};

/// How many items one transaction takes away: so long do other writers wait.
const TURN: i64 = 512;

/// A sweep that is under way, one short transaction after the other.
#[derive(Debug)]
pub(crate) struct Sweep {
    now: i64,
    swept: u64,
}

impl Sweep {
    pub(crate) fn new(now: SystemTime) -> Self {
        Self { now: millis(now), swept: 0 }
    }

    /// Does what fits into one transaction.
    pub(crate) fn turn(
        &mut self,
        session: &Session,
    ) -> Result<Turn<Result<u64, superstep_store::store::StoreError>>, Trouble> {
        let swept = match settle(some(&session.db, self.now, TURN))? {
            Ok(swept) => swept,
            Err(error) => return Ok(Turn::Done(Err(error))),
        };
        if swept == 0 {
            return Ok(Turn::Done(Ok(self.swept)));
        }
        self.swept += swept;
        Ok(Turn::More)
    }
}

/// Takes at most so many expired items away; how many that were.
pub(super) fn some(db: &Connection, now: i64, most: i64) -> Result<u64, Fault> {
    let mut query = db.prepare_cached(
        "SELECT id, namespace FROM store_item WHERE expires <= ?1 ORDER BY expires LIMIT ?2",
    )?;
    let ended: Vec<(i64, i64)> =
        query.query_map([now, most], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
    for (item, namespace) in &ended {
        remove(db, *item, *namespace)?;
    }
    Ok(ended.len() as u64)
}
