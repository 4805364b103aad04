use std::sync::Arc;

use super::{Checkpoint, CorruptCheckpoint};

/// A query for the namespaces of a thread, by name in the order of their UTF-8 bytes.
///
/// A namespace is listed if it has a checkpoint and meets every condition.
///
/// ```
/// use superstep::checkpoint::NamespaceQuery;
///
/// let query = NamespaceQuery::new("thread").prefix("research:").limit(10);
/// assert_eq!((&*query.thread, query.limit), ("thread", Some(10)));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct NamespaceQuery {
    /// The thread.
    pub thread: Arc<str>,
    /// Only namespaces whose name sorts after this one.
    pub after: Option<Arc<str>>,
    /// Only namespaces whose name starts with this prefix.
    pub prefix: Option<Arc<str>>,
    /// At most this many items in a page. A store may return fewer and set [`Page::more`](super::Page::more).
    pub limit: Option<usize>,
}

impl NamespaceQuery {
    /// Creates a query for all namespaces of a thread.
    pub fn new(thread: impl Into<Arc<str>>) -> Self {
        Self { thread: thread.into(), ..Self::default() }
    }

    /// Lists only namespaces whose name sorts after this one.
    #[must_use]
    pub fn after(mut self, after: impl Into<Arc<str>>) -> Self {
        self.after = Some(after.into());
        self
    }

    /// Lists only namespaces whose name starts with this prefix.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<Arc<str>>) -> Self {
        self.prefix = Some(prefix.into());
        self
    }

    /// Continues the list after the last namespace of a page.
    #[must_use]
    pub fn continue_after(self, last: &NamespaceRecord) -> Self {
        self.after(Arc::clone(&last.namespace))
    }

    /// Lists at most this many namespaces in a page.
    #[must_use]
    pub fn limit(mut self, limit: impl Into<Option<usize>>) -> Self {
        self.limit = limit.into();
        self
    }
}

/// A namespace in a list.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct NamespaceRecord {
    /// The name, empty for the root graph.
    pub namespace: Arc<str>,
    /// The head: `Err` if it cannot be read. An error concerns this namespace only.
    pub head: Result<Checkpoint, CorruptCheckpoint>,
}

impl NamespaceRecord {
    /// Creates the record of a namespace from its name and its head.
    pub fn new(namespace: impl Into<Arc<str>>, head: Result<Checkpoint, CorruptCheckpoint>) -> Self {
        Self { namespace: namespace.into(), head }
    }
}
