use std::sync::Arc;

use crate::plan::ExitPlan;
use crate::store::Ttl;

use super::source::KeyFn;

/// The cache policy of a compiled node: its key function, its time to live, and the names in the cache key.
pub(crate) struct NodeCache {
    pub(crate) key: KeyFn,
    pub(crate) ttl: Option<Ttl>,
    /// The exits of the route that the node returns.
    pub(crate) exits: Vec<ExitPlan>,
    pub(crate) graph: Arc<str>,
    pub(crate) node: Arc<str>,
    /// The state's name, with its version and those of flattened states, as a string.
    pub(crate) state: Arc<str>,
}
