use std::time::Duration;

use super::Retry;

/// The retries and timeouts of a node.
///
/// Settings that a node's own policy lacks are taken from the graph's default policy. Without either, a node is not retried,
/// and an attempt may take any time.
#[derive(Clone, Debug, Default)]
#[must_use = "a policy does nothing until a graph is given it"]
pub struct Policy {
    retries: Option<Vec<Retry>>,
    timeout: Option<Option<Duration>>,
    idle_timeout: Option<Option<Duration>>,
}

/// What can be given as a policy: a [`Policy`], or a [`Retry`] alone.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a policy",
    label = "neither a `Policy` nor a `Retry`",
    note = "write `Retry::attempts(3)`, or `Policy::new().timeout(Duration::from_secs(10))`"
)]
pub trait IntoPolicy {
    /// Returns the policy.
    fn into_policy(self) -> Policy;
}

#[diagnostic::do_not_recommend]
impl IntoPolicy for Policy {
    fn into_policy(self) -> Policy {
        self
    }
}

#[diagnostic::do_not_recommend]
impl IntoPolicy for Retry {
    fn into_policy(self) -> Policy {
        Policy::new().retry(self)
    }
}

impl From<Retry> for Policy {
    fn from(retry: Retry) -> Self {
        retry.into_policy()
    }
}

impl Policy {
    /// Creates a policy without any settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a retry policy. If the policy has several, the first that [matches](Retry::when) a failure applies.
    ///
    /// All attempts happen in the same superstep. Siblings continue meanwhile, and fail-fast sees a failure only after the last
    /// attempt. The writes of a failed attempt are dropped. Its answers and finished durable [steps](crate::Context::step) are
    /// kept, so that no question is asked again and no finished step runs again.
    ///
    /// On a thread, a failure is stored with the time of the next attempt. After a crash, the resumed run waits for the
    /// remaining time and continues the count. (With [`Durability::Exit`](crate::Durability::Exit), a crash loses the run and
    /// this record.) After the run has failed, resuming it starts a new count;
    /// [`Context::attempt`](crate::Context::attempt) keeps counting.
    pub fn retry(mut self, retry: Retry) -> Self {
        self.retries.get_or_insert_default().push(retry);
        self
    }

    /// Disables retries, whatever the graph's default policy sets.
    pub fn no_retry(mut self) -> Self {
        self.retries = Some(Vec::new());
        self
    }

    /// Sets the attempt timeout. An attempt that takes longer is dropped and fails with [`TimedOut`](super::TimedOut).
    ///
    /// The wait between attempts does not count. An attempt that is suspended by an
    /// [interrupt](crate::Context::interrupt) ends there, and the attempt after the answer has the full time again. Needs
    /// tokio's timer.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(Some(limit));
        self
    }

    /// Disables the attempt timeout, whatever the graph's default policy sets.
    pub fn no_timeout(mut self) -> Self {
        self.timeout = Some(None);
        self
    }

    /// Sets the idle timeout. An attempt without activity for this long is dropped, as by [`timeout`](Self::timeout).
    ///
    /// The following calls count as activity:
    ///
    /// - [`Context::heartbeat`](crate::Context::heartbeat)
    /// - [`Context::emit`](crate::Context::emit) and [`Context::token`](crate::Context::token), even if no stream reads them
    /// - the start and the end of a [`Context::step`](crate::Context::step)
    pub fn idle_timeout(mut self, limit: Duration) -> Self {
        self.idle_timeout = Some(Some(limit));
        self
    }

    /// Disables the idle timeout, whatever the graph's default policy sets.
    pub fn no_idle_timeout(mut self) -> Self {
        self.idle_timeout = Some(None);
        self
    }

    /// Combines this policy with a default policy.
    pub(crate) fn or(&self, default: &Self) -> ResolvedPolicy {
        ResolvedPolicy {
            retries: self.retries.as_ref().or(default.retries.as_ref()).cloned().unwrap_or_default(),
            timeout: self.timeout.or(default.timeout).flatten(),
            idle_timeout: self.idle_timeout.or(default.idle_timeout).flatten(),
        }
    }

    /// Returns the invalid settings, as predicates for an error message.
    pub(crate) fn problems(&self) -> Vec<&'static str> {
        let retries = self.retries.iter().flatten().filter_map(Retry::problem);
        let zero = |limit: Option<Option<Duration>>| limit.flatten() == Some(Duration::ZERO);
        let limits = [
            zero(self.timeout).then_some("has a `timeout` of zero: use a longer one, or `no_timeout()`"),
            zero(self.idle_timeout)
                .then_some("has an `idle_timeout` of zero: use a longer one, or `no_idle_timeout()`"),
        ];
        retries.chain(limits.into_iter().flatten()).collect()
    }
}

/// The settings of one node, with the graph's defaults.
#[derive(Clone, Debug, Default)]
pub(crate) struct ResolvedPolicy {
    pub(crate) retries: Vec<Retry>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) idle_timeout: Option<Duration>,
}

impl ResolvedPolicy {
    /// Returns `true` if the policy has no effect.
    pub(crate) fn is_empty(&self) -> bool {
        self.retries.is_empty() && self.timeout.is_none() && self.idle_timeout.is_none()
    }

    /// Returns `true` if the policy needs tokio's timer.
    pub(crate) fn needs_timer(&self) -> bool {
        let waits = self.retries.iter().any(Retry::waits);
        waits || self.timeout.is_some() || self.idle_timeout.is_some()
    }
}
