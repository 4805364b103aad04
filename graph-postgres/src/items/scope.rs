use superstep_store::store::{ItemKey, Order, Search};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::columns::{Param, millis};

use super::ItemError;
use super::name::NameRange;
use super::row::{StoredItem, corrupt_item, item_value};

/// A found item, and its score in a semantic search.
pub(super) type Scored = (StoredItem, Option<f32>);

/// The names and the time of a search, as parameters of its statements, and the position of its order in them.
#[derive(Debug)]
pub(super) struct Scope {
    names: NameRange,
    now: i64,
    pub(super) order: usize,
}

impl Scope {
    pub(super) fn new(search: &Search) -> Self {
        let mut names = if search.within {
            NameRange::within(&search.namespace)
        } else {
            NameRange::of(&search.namespace)
        };
        if let Some(after) = &search.after {
            names.begin_after(after);
        }
        let order = usize::from(search.order == Order::Newest);
        Self { names, now: millis(search.now), order }
    }

    /// Returns the statement of the order of the search.
    pub(super) fn of<'s>(&self, [name, newest]: &'s [String; 2]) -> &'s str {
        if self.order == 0 { name } else { newest }
    }

    /// Returns the parameters of a statement: those of the scope, and then others.
    pub(super) fn params<'p>(&'p self, others: impl IntoIterator<Item = Param<'p>>) -> Vec<Param<'p>> {
        let scope: [Param<'p>; 3] =
            [(&self.names.from, Type::BYTEA), (&self.names.to, Type::BYTEA), (&self.now, Type::INT8)];
        scope.into_iter().chain(others).collect()
    }
}

/// Returns `true` if the value of a row meets the conditions.
pub(super) fn accepts(search: &Search, row: &Row, at: &ItemKey) -> Result<bool, ItemError> {
    let accepted = search.accepts(&item_value(row, at)?);
    accepted.map_err(|reason| corrupt_item(at, reason).into())
}
