//! The long-term store: items that all threads share, under a namespace and a key.
//!
//! [`Store`] is the trait of a store, which handles bytes. [`LongTermStore`] is the typed interface that nodes use.
//! [`MemoryStore`] keeps items in the process; `superstep_sqlite::SqliteStore` keeps them in a file. The crate
//! `superstep-conformance` tests every promise of a store.

mod batch;
mod condition;
mod configured_store;
mod decode;
mod embed;
mod embedding;
mod error;
mod field_path;
mod found;
mod index;
mod into_condition;
mod into_store;
mod item;
mod items;
mod limits;
mod long_term_store;
mod memory;
mod namespace;
mod number;
mod putting;
mod request;
mod searching;
mod sort_key;
#[expect(clippy::module_inception, reason = "a public type lives in the file of its name")]
mod store;
mod ttl;

pub use batch::Batch;
pub use condition::{Condition, Test, Tested, gt, gte, lt, lte, ne};
pub use embed::{Embed, EmbedFuture};
pub use embedding::{Embedding, Near};
pub use error::{CorruptItem, StoreError};
pub use field_path::FieldPath;
pub use found::Found;
pub use index::Index;
pub use into_condition::IntoCondition;
pub use into_store::IntoStore;
pub use item::{Item, ItemKey};
pub use items::Items;
pub use long_term_store::{LongTermStore, Namespaces};
pub use memory::MemoryStore;
pub use namespace::{Namespace, Segment};
pub use putting::Putting;
pub use request::{Get, ItemWrite, ItemWrites, NamespaceQuery, Order, Put, Search};
pub use searching::Searching;
pub use store::{Store, StoreFuture};
pub use ttl::Ttl;
pub(crate) use ttl::to_the_millisecond;
