use std::time::Duration;

use super::Retry;

/// How often a node is tried, and how long an attempt of it may take.
///
/// What a node's own policy does not say is as in the graph's default policy; what neither says does not happen.
#[derive(Clone, Debug, Default)]
#[must_use = "a policy does nothing until a graph is given it"]
pub struct Policy {
    retries: Option<Vec<Retry>>,
    timeout: Option<Option<Duration>>,
    idle_timeout: Option<Option<Duration>>,
}

impl From<Retry> for Policy {
    fn from(retry: Retry) -> Self {
        Self::new().retry(retry)
    }
}

impl Policy {
    /// A policy that says nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Tries the node again when it fails. Of several, the first that [fits](Retry::when) the failure decides.
    ///
    /// All of it happens within one superstep: siblings go on meanwhile, and fail-fast sees a failure only when nothing is
    /// left to try. What a failed attempt would have written is dropped; the answers that it got and the
    /// [steps](crate::Context::step) that it has finished are kept, so that nobody is asked again and nothing is paid for twice.
    ///
    /// On a thread, a failure is stored with the time of the next attempt: when the process dies, a resumed run waits for
    /// the rest of it, and the count goes on. (With [`Durability::Exit`](crate::Durability::Exit) a crash loses the run, and
    /// this with it.) Once the run has failed, resuming it begins a new count; [`Context::attempt`](crate::Context::attempt) goes on.
    pub fn retry(mut self, retry: Retry) -> Self {
        self.retries.get_or_insert_default().push(retry);
        self
    }

    /// Does not try the node again, whatever the graph's default is.
    pub fn no_retry(mut self) -> Self {
        self.retries = Some(Vec::new());
        self
    }

    /// Ends each attempt that takes longer: its future is dropped, and it has failed with
    /// [`TimedOut`](super::TimedOut). Needs tokio's timer.
    ///
    /// Waiting for another attempt does not count. An attempt that [asks](crate::Context::interrupt) ends with its question, and
    /// the next one has all the time again.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(Some(limit));
        self
    }

    /// Lets an attempt take as long as it takes, whatever the graph's default is.
    pub fn no_timeout(mut self) -> Self {
        self.timeout = Some(None);
        self
    }

    /// Ends each attempt that shows no sign of life for so long, as [`timeout`](Self::timeout) does. Signs of life are
    /// [`Context::heartbeat`](crate::Context::heartbeat), what is sent with [`emit`](crate::Context::emit) and [`token`](crate::Context::token),
    /// whether somebody listens or not, and the beginning and the end of a [`step`](crate::Context::step).
    pub fn idle_timeout(mut self, limit: Duration) -> Self {
        self.idle_timeout = Some(Some(limit));
        self
    }

    /// Lets an attempt be silent for as long as it likes, whatever the graph's default is.
    pub fn no_idle_timeout(mut self) -> Self {
        self.idle_timeout = Some(None);
        self
    }

    /// This policy, with a default for what it does not say.
    pub(crate) fn or(&self, default: &Self) -> Settled {
        Settled {
            retries: self.retries.as_ref().or(default.retries.as_ref()).cloned().unwrap_or_default(),
            timeout: self.timeout.or(default.timeout).flatten(),
            idle_timeout: self.idle_timeout.or(default.idle_timeout).flatten(),
        }
    }

    /// What cannot be meant.
    pub(crate) fn mistakes(&self) -> Vec<&'static str> {
        let retries = self.retries.iter().flatten().filter_map(Retry::mistake);
        let zero = |limit: Option<Option<Duration>>| limit.flatten() == Some(Duration::ZERO);
        let limits = [
            zero(self.timeout).then_some("lets an attempt take no time: `timeout` is zero"),
            zero(self.idle_timeout).then_some("lets an attempt take no time: `idle_timeout` is zero"),
        ];
        retries.chain(limits.into_iter().flatten()).collect()
    }
}

/// What is to be done for one node, defaults included.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settled {
    pub(crate) retries: Vec<Retry>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) idle_timeout: Option<Duration>,
}

impl Settled {
    /// Whether there is nothing to do.
    pub(crate) fn is_nothing(&self) -> bool {
        self.retries.is_empty() && self.timeout.is_none() && self.idle_timeout.is_none()
    }

    /// Whether it may have to wait for a time.
    pub(crate) fn needs_timer(&self) -> bool {
        let waits = self.retries.iter().any(Retry::waits);
        waits || self.timeout.is_some() || self.idle_timeout.is_some()
    }
}
