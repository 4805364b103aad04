//! The records that the server itself stores: threads, runs, assistants and crons. They are items of the long-term store.
//!
//! - A change of a record and of its places in lists is one atomic write.
//! - Lists are namespaces whose keys sort in the order of the list, with a copy of the record: a search of a list reads only
//!   as far as its page, and the store itself applies the filter.
//! - The store has no compare-and-set. Changes to a record hold its lock, so one process changes the records of a store.

mod keys;
mod locks;
mod pattern;
mod scan;

mod assistant_record;
mod cron_record;
mod run_record;
mod task_record;
mod thread_record;
mod webhook_record;

mod assistants;
mod created;
mod crons;
mod runs;
mod tasks;
mod threads;
mod webhooks;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use superstep::payload::Storable;
use superstep::store::{Batch, Items, LongTermStore, Namespace, Putting, StoreError};
use tokio::sync::RwLock;

use crate::auth::Identity;
use crate::protocol::{AssistantId, CronId, ThreadId};
use locks::Locks;

pub(crate) use assistant_record::{AssistantRecord, AssistantVersion};
pub(crate) use assistants::Latest;
pub(crate) use created::Created;
pub(crate) use cron_record::CronRecord;
pub(crate) use keys::RESERVED;
pub(crate) use pattern::contains;
pub(crate) use run_record::{MESSAGE_KEY, RunRecord};
pub(crate) use scan::Scan;
pub(crate) use task_record::{TaskPlace, TaskRecord};
pub(crate) use tasks::{KEPT, TaskRuns};
pub(crate) use thread_record::ThreadRecord;
pub(crate) use webhook_record::WebhookRecord;

/// The records of the server, as one caller sees them. Cheap to clone.
///
/// A record that belongs to another caller does not exist: it is neither found nor listed nor changed.
#[derive(Clone, Debug)]
pub(crate) struct Records {
    store: LongTermStore,
    /// The caller. `None` for the server itself.
    caller: Option<Arc<Identity>>,
    threads: Locks<ThreadId>,
    assistants: Locks<AssistantId>,
    crons: Locks<CronId>,
    /// Held for reading while a change of a task is stored.
    tasks: Arc<RwLock<()>>,
}

/// The result of an access to the records.
type Stored<T> = Result<T, StoreError>;

impl Records {
    /// Creates the records in a store. Its time to live and its index for searches by meaning do not apply to them.
    pub(crate) fn new(store: &LongTermStore) -> Self {
        let store = LongTermStore::new(Arc::clone(store.store()));
        let (threads, assistants, crons) = (Locks::new(), Locks::new(), Locks::new());
        Self { store, caller: None, threads, assistants, crons, tasks: Arc::default() }
    }

    /// Returns the records that a caller sees.
    pub(crate) fn seen_by(&self, caller: &Arc<Identity>) -> Self {
        Self { caller: Some(Arc::clone(caller)), ..self.clone() }
    }

    /// Returns the caller, if there are records that it does not see.
    fn restricted(&self) -> Option<&Identity> {
        self.caller.as_deref().filter(|caller| !caller.is_operator())
    }

    /// Returns `true` if the caller sees the records of an owner.
    fn sees(&self, owner: Option<&str>) -> bool {
        self.caller.as_ref().is_none_or(|caller| caller.sees(owner))
    }

    /// Returns the owner of new records.
    fn owner(&self) -> Option<Arc<str>> {
        self.caller.as_ref().map(|caller| caller.shared_id())
    }

    fn of<T: Storable + 'static>(&self, namespace: Namespace) -> Items<T> {
        self.store.of(namespace)
    }

    /// Returns the put of a record.
    fn put<T: Storable + 'static>(&self, namespace: Namespace, key: &str, record: &T) -> Putting {
        self.of::<T>(namespace).put(key, record)
    }

    fn batch(&self) -> Batch {
        self.store.batch()
    }
}
