use std::fmt;
use std::time::Duration;

/// The cache policy of a node: by which key its results are found again, and for how long. See
/// [`StateGraph::cache`](crate::StateGraph::cache).
///
/// The key function is written like a node that is not `async`: it reads the state, or a view of it by value, the packet that
/// the node is sent, and `&Context` or `&ContextWith<_>`. It returns everything that the node's result hangs on, as a value that can be
/// serialized.
///
/// ```
/// # use std::time::Duration;
/// # use superstep::GraphState;
/// # use superstep::cache::CachePolicy;
/// # #[derive(GraphState, Clone)] struct Page { url: String, language: String }
/// CachePolicy::by(|page: &Page| (page.url.clone(), page.language.clone())).ttl(Duration::from_secs(60));
/// ```
#[derive(Clone)]
#[must_use = "a cache policy does nothing until a graph is given it"]
pub struct CachePolicy<K> {
    pub(crate) key: K,
    pub(crate) ttl: Option<Duration>,
}

impl<K> CachePolicy<K> {
    /// Finds results by what this function returns.
    ///
    /// Two keys are one if they are written as the same JSON, in which the order of a map's entries does not count. (A
    /// `HashSet` is a list in no certain order, and makes a poor key.) Keys are kept whole, however long they are: nobody
    /// takes one for another. They are kept as they are, too, so a secret is no good key.
    pub fn by(key: K) -> Self {
        Self { key, ttl: None }
    }

    /// Uses a result for so long after it was returned; for ever unless it is said.
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
