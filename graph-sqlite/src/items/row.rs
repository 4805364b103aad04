use std::sync::Arc;
use std::time::SystemTime;

use rusqlite::Row;
use rusqlite::types::ValueRef;
use superstep_store::payload::Payload;
use superstep_store::store::{Item, ItemKey, Namespace, StoreError, Ttl};

use crate::stored::{payload, text, time};
use crate::trouble::Trouble;

use super::Fault;
use super::place::namespace;

/// What [`Stored::read`] reads, from `store_item i` and `store_namespace n`.
pub(super) const ITEM: &str =
    "i.id, n.place, i.key, i.encoding, i.value, i.created, i.updated, i.ttl, i.expires";

/// An item, and its row.
#[derive(Debug)]
pub(super) struct Stored {
    pub(super) id: i64,
    pub(super) item: Item,
    pub(super) ttl: Option<Ttl>,
}

impl Stored {
    /// The item of a row that begins with [`ITEM`].
    pub(super) fn read(row: &Row<'_>) -> Result<Self, Fault> {
        let at = at(row)?;
        let rest = || -> Result<_, Trouble> {
            let value = payload(row, row.get(3)?, 4)?;
            let [created_at, updated_at] = [moment(row.get(5)?)?, moment(row.get(6)?)?];
            let expires_at = row.get::<_, Option<i64>>(8)?.map(moment).transpose()?;
            Ok((value, created_at, updated_at, ttl(row.get(7)?)?, expires_at))
        };
        let (value, created_at, updated_at, ttl, expires_at) =
            rest().map_err(|trouble| named(&at, trouble))?;
        let ItemKey { namespace, key } = at;
        Ok(Self {
            id: row.get(0)?,
            item: Item { namespace, key, value, created_at, updated_at, expires_at },
            ttl,
        })
    }

    /// When it expires if its time to live begins anew; never earlier than before.
    pub(super) fn refreshed(&self, now: SystemTime) -> Option<SystemTime> {
        let anew = self.ttl.and_then(|ttl| ttl.end(now));
        self.item.expires_at.map(|end| anew.map_or(end, |anew| anew.max(end)))
    }
}

/// Which item a row that begins with [`ITEM`] is.
pub(super) fn at(row: &Row<'_>) -> Result<ItemKey, Fault> {
    let place = row.get_ref(1)?;
    let namespace = read_place(place)?;
    let key: Arc<str> = text(row, 2)?.into();
    Ok(ItemKey { namespace, key })
}

pub(super) fn read_place(place: ValueRef<'_>) -> Result<Namespace, Trouble> {
    let found = match place {
        ValueRef::Blob(place) => namespace(place),
        _ => None,
    };
    found.ok_or_else(|| {
        Trouble::damaged("a namespace of the long-term store", None, "it is no list of segments")
    })
}

/// Says which item it is that cannot be read.
pub(super) fn named(at: &ItemKey, trouble: Trouble) -> Fault {
    match trouble {
        Trouble::Damaged(damage) => {
            StoreError::corrupt(&at.namespace, &at.key, format!("{}: {}", damage.what, damage.reason)).into()
        }
        other => other.into(),
    }
}

fn moment(millis: i64) -> Result<SystemTime, Trouble> {
    time(millis).ok_or_else(|| Trouble::damaged("the time", None, "it is out of range"))
}

fn ttl(millis: Option<i64>) -> Result<Option<Ttl>, Trouble> {
    let Some(millis) = millis else { return Ok(None) };
    let ttl = u64::try_from(millis).ok().and_then(Ttl::from_millis);
    ttl.map(Some).ok_or_else(|| Trouble::damaged("the time to live", None, "it is out of range"))
}

/// The value of a row that begins with [`ITEM`].
pub(super) fn value(row: &Row<'_>, at: &ItemKey) -> Result<Payload, Fault> {
    let read = || payload(row, row.get(3)?, 4);
    read().map_err(|trouble| named(at, trouble))
}
