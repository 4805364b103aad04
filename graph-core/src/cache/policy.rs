use std::fmt;
use std::time::Duration;

/// The cache policy of a node: the key of its results and their time to live. See
/// [`StateGraph::cache`](crate::StateGraph::cache).
///
/// The key function has the form of a node without `async`. Its parameters are the state or a view by value, the packet of
/// the node, and `&Context` or `&ContextWith<_>`. It returns everything that the result of the node depends on, as a value
/// that can be serialized.
///
/// ```
/// # use std::time::Duration;
/// # use superstep::GraphState;
/// # use superstep::cache::CachePolicy;
/// # #[derive(GraphState, Clone)] struct Page { url: String, language: String }
/// CachePolicy::by(|page: &Page| (page.url.clone(), page.language.clone())).ttl(Duration::from_secs(60));
/// ```
#[derive(Clone)]
#[must_use = "a cache policy does nothing until it is passed to `StateGraph::cache`"]
pub struct CachePolicy<K> {
    pub(crate) key: K,
    pub(crate) ttl: Option<Duration>,
}

impl<K> CachePolicy<K> {
    /// Creates a policy with a key function.
    ///
    /// - Two keys are equal if they serialize to the same JSON. The order of the entries of a map does not matter.
    /// - A `HashSet` serializes as a list in arbitrary order, so it is not a suitable key.
    /// - Keys are stored in full, so two different keys are never confused.
    /// - Keys are stored unencrypted, so do not use a secret as a key.
    pub fn by(key: K) -> Self {
        Self { key, ttl: None }
    }

    /// Sets the time to live of a result. By default, a result does not expire.
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }
}

impl<K> fmt::Debug for CachePolicy<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CachePolicy").field("ttl", &self.ttl).finish_non_exhaustive()
    }
}
