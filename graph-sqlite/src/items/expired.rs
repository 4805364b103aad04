use std::time::SystemTime;

use crate::columns::millis;
use crate::error::Error;
use crate::writer::{Session, WriteStatus};

use super::separate_refusal;
use super::write::delete_expired;

/// The number of items that one transaction deletes. Other writers wait that long.
const ROWS_PER_TRANSACTION: i64 = 512;

/// A deletion of all expired items, in a sequence of short transactions.
#[derive(Debug)]
pub(crate) struct ExpiredDeletion {
    now: i64,
    deleted: u64,
}

impl ExpiredDeletion {
    pub(crate) fn new(now: SystemTime) -> Self {
        Self { now: millis(now), deleted: 0 }
    }

    /// Does the work of one transaction.
    pub(crate) fn advance(
        &mut self,
        session: &Session,
    ) -> Result<WriteStatus<Result<u64, superstep_store::store::StoreError>>, Error> {
        let deleted = match separate_refusal(delete_expired(&session.db, self.now, ROWS_PER_TRANSACTION))? {
            Ok(deleted) => deleted,
            Err(error) => return Ok(WriteStatus::Done(Err(error))),
        };
        if deleted == 0 {
            return Ok(WriteStatus::Done(Ok(self.deleted)));
        }
        self.deleted += deleted;
        Ok(WriteStatus::More)
    }
}
