use std::sync::Arc;

use crate::Metadata;

use super::{CheckpointId, CheckpointSource};

/// A query for checkpoints of a namespace, newest first unless it [says otherwise](Self::oldest_first).
///
/// A checkpoint is listed if it meets every condition.
///
/// ```
/// use superstep::checkpoint::{CheckpointQuery, CheckpointSource};
///
/// let query = CheckpointQuery::new("thread").source(CheckpointSource::Input).limit(10);
/// assert_eq!((&*query.thread, query.limit), ("thread", Some(10)));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CheckpointQuery {
    /// The thread.
    pub thread: Arc<str>,
    /// The namespace, empty for the root graph.
    pub namespace: Arc<str>,
    /// Only checkpoints with a smaller id.
    pub before: Option<CheckpointId>,
    /// Only checkpoints with a greater id.
    pub after: Option<CheckpointId>,
    /// `true` to list the oldest checkpoint first.
    pub oldest_first: bool,
    /// At most this many items in a page. A store may return fewer and set [`Page::more`](super::Page::more).
    pub limit: Option<usize>,
    /// Only checkpoints of this source.
    pub source: Option<CheckpointSource>,
    /// Only checkpoints of the run with this id.
    pub run: Option<Arc<str>>,
    /// Only checkpoints that have accepted the request with this idempotency key: those with a
    /// [`Request`](super::RecordKind::Request) record of exactly this key.
    pub request: Option<Arc<str>>,
    /// Only checkpoints whose run has all of these keys with exactly these values.
    ///
    /// `1` is neither `1.0` nor `"1"`, and null is not a missing key.
    pub metadata: Metadata,
}

impl CheckpointQuery {
    /// Creates a query for all checkpoints of the root namespace of a thread.
    pub fn new(thread: impl Into<Arc<str>>) -> Self {
        Self { thread: thread.into(), ..Self::default() }
    }

    /// Sets the namespace.
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<Arc<str>>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Lists only checkpoints with a smaller id.
    #[must_use]
    pub fn before(mut self, before: impl Into<Option<CheckpointId>>) -> Self {
        self.before = before.into();
        self
    }

    /// Lists only checkpoints with a greater id.
    #[must_use]
    pub fn after(mut self, after: impl Into<Option<CheckpointId>>) -> Self {
        self.after = after.into();
        self
    }

    /// Lists the oldest checkpoint first, if `oldest_first` is `true`.
    #[must_use]
    pub fn oldest_first(mut self, oldest_first: bool) -> Self {
        self.oldest_first = oldest_first;
        self
    }

    /// Lists at most this many checkpoints in a page.
    #[must_use]
    pub fn limit(mut self, limit: impl Into<Option<usize>>) -> Self {
        self.limit = limit.into();
        self
    }

    /// Lists only checkpoints of this source.
    #[must_use]
    pub fn source(mut self, source: impl Into<Option<CheckpointSource>>) -> Self {
        self.source = source.into();
        self
    }

    /// Lists only checkpoints of the run with this id.
    #[must_use]
    pub fn run(mut self, run: impl Into<Arc<str>>) -> Self {
        self.run = Some(run.into());
        self
    }

    /// Lists only checkpoints that have accepted the request with this idempotency key.
    #[must_use]
    pub fn request(mut self, key: impl Into<Arc<str>>) -> Self {
        self.request = Some(key.into());
        self
    }

    /// Lists only checkpoints whose run has all of these keys with exactly these values.
    #[must_use]
    pub fn metadata(mut self, metadata: Metadata) -> Self {
        self.metadata = metadata;
        self
    }
}
