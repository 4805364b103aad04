use std::time::Duration;

/// The error of an attempt that exceeded its [timeout](super::Policy::timeout) or its
/// [idle timeout](super::Policy::idle_timeout).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TimedOut {
    /// The attempt took too long.
    #[error("the attempt exceeded its timeout of {limit:?}: raise `Policy::timeout(..)` if it needs longer")]
    Attempt {
        /// The attempt timeout.
        limit: Duration,
    },
    /// The attempt showed no activity.
    #[error(
        "the attempt showed no activity for {limit:?}, its idle timeout: call `cx.heartbeat()` while the node makes progress"
    )]
    Idle {
        /// The idle timeout.
        limit: Duration,
    },
}
