use std::time::Duration;

/// What an attempt fails with that has taken too long: see [`Policy::timeout`](super::Policy::timeout) and
/// [`Policy::idle_timeout`](super::Policy::idle_timeout).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TimedOut {
    /// It had not ended.
    #[error("the attempt had not ended after {limit:?}, which is its timeout")]
    Attempt {
        /// How long it may take.
        limit: Duration,
    },
    /// It showed no sign of life.
    #[error(
        "the attempt gave no sign of life for {limit:?}, which is its idle timeout: call `cx.heartbeat()` where it goes on"
    )]
    Idle {
        /// How long it may be silent.
        limit: Duration,
    },
}
