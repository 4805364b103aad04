use std::collections::hash_map::RandomState;
use std::error::Error as StdError;
use std::fmt;
use std::hash::{BuildHasher as _, Hasher as _};
use std::sync::Arc;
use std::time::Duration;

use crate::contain::chain;
use crate::error::NodeFailure;

/// A retry policy: the number of attempts, the backoff between them, and the failures that are retried.
///
/// By default it applies to every error that a node returns, including [timeouts](super::TimedOut), but not to panics.
/// [`when`](Self::when) and [`when_failure`](Self::when_failure) restrict or extend it.
///
/// Two kinds of failures are never retried: misuse of this library by the node (for example, a step key used twice), and
/// failures of the checkpointer.
///
/// ```
/// # use std::time::Duration;
/// # use superstep::policy::Retry;
/// # #[derive(Debug, thiserror::Error)] #[error("status {0}")] struct HttpError(u16);
/// Retry::attempts(5)
///     .backoff(Duration::from_millis(200))
///     .max_backoff(Duration::from_secs(30))
///     .jitter()
///     .when(|error: &HttpError| error.0 >= 500);
/// ```
#[derive(Clone)]
#[must_use = "a retry does nothing until it is in a policy"]
pub struct Retry {
    attempts: u32,
    backoff: Duration,
    factor: f64,
    max_backoff: Duration,
    jitter: Option<Arc<dyn Fn() -> f64 + Send + Sync>>,
    when: Vec<Arc<Condition>>,
    wait_from: Vec<Arc<RequestedWait>>,
}

type Condition = dyn Fn(&NodeFailure) -> bool + Send + Sync;

/// Returns the wait that an error requests.
type RequestedWait = dyn Fn(&NodeFailure) -> Option<Duration> + Send + Sync;

impl Retry {
    /// Creates a policy with a maximum number of attempts, including the first.
    ///
    /// If a node has several retry policies, the failures under all of them count. The default backoff is 500 ms, doubled
    /// after each attempt, up to 128 seconds.
    pub fn attempts(attempts: u32) -> Self {
        Self {
            attempts,
            backoff: Duration::from_millis(500),
            factor: 2.0,
            max_backoff: Duration::from_secs(128),
            jitter: None,
            when: Vec::new(),
            wait_from: Vec::new(),
        }
    }

    /// Sets the wait before the second attempt. [`Duration::ZERO`] retries at once; any other wait needs tokio's timer.
    pub fn backoff(mut self, wait: Duration) -> Self {
        self.backoff = wait;
        self
    }

    /// Sets the factor by which the wait grows after each attempt. The default is 2; 1 keeps the wait constant.
    pub fn factor(mut self, factor: f64) -> Self {
        self.factor = factor;
        self
    }

    /// Sets the maximum wait between attempts.
    pub fn max_backoff(mut self, wait: Duration) -> Self {
        self.max_backoff = wait;
        self
    }

    /// Adds jitter: shortens each wait by a random amount of up to one half.
    ///
    /// Tasks that failed together are then not retried at the same time.
    pub fn jitter(self) -> Self {
        self.jitter_by(random)
    }

    /// Adds jitter with another source of random numbers from 0 to 1: 0 keeps half of a wait, 1 the full wait.
    ///
    /// ```
    /// # use superstep::policy::Retry;
    /// // The same in every run of a test.
    /// Retry::attempts(3).jitter_by(|| 1.0);
    /// ```
    pub fn jitter_by(mut self, random: impl Fn() -> f64 + Send + Sync + 'static) -> Self {
        self.jitter = Some(Arc::new(random));
        self
    }

    /// Applies the policy to errors of type `E` for which `fits` returns `true`.
    ///
    /// The error is the node's own, or the first of its causes with type `E`. If several conditions are set, one is enough.
    pub fn when<E: StdError + 'static>(self, fits: impl Fn(&E) -> bool + Send + Sync + 'static) -> Self {
        self.when_failure(move |failure| cause(failure).is_some_and(&fits))
    }

    /// Applies the policy to failures for which `fits` returns `true`, including panics.
    pub fn when_failure(mut self, fits: impl Fn(&NodeFailure) -> bool + Send + Sync + 'static) -> Self {
        self.when.push(Arc::new(fits));
        self
    }

    /// Takes the wait before the next attempt from errors of type `E`, for example from the `Retry-After` of a server.
    ///
    /// The error is found as by [`when`](Self::when). If `wait` returns a time, the next attempt begins after this time or
    /// after the backoff, whichever is longer. [Jitter](Self::jitter) lengthens the time by up to half of the backoff.
    ///
    /// A failure whose error requests more than [`max_backoff`](Self::max_backoff) is not retried, because an earlier attempt
    /// would be refused again. If several functions are set, the first that returns a time applies.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use superstep::policy::Retry;
    /// # #[derive(Debug, thiserror::Error)] #[error("busy")] struct Busy { retry_after: Option<Duration> }
    /// Retry::attempts(5).max_backoff(Duration::from_secs(600)).wait_from(|error: &Busy| error.retry_after);
    /// ```
    pub fn wait_from<E: StdError + 'static>(
        mut self,
        wait: impl Fn(&E) -> Option<Duration> + Send + Sync + 'static,
    ) -> Self {
        self.wait_from.push(Arc::new(move |failure| cause(failure).and_then(&wait)));
        self
    }

    pub(crate) fn applies_to(&self, failure: &NodeFailure) -> bool {
        if self.when.is_empty() { !failure.panicked } else { self.when.iter().any(|fits| fits(failure)) }
    }

    /// Returns the wait after this number of failures, or `None` if there is no further attempt.
    pub(crate) fn wait_after(&self, failures: u32, failure: &NodeFailure) -> Option<Duration> {
        if failures >= self.attempts {
            return None;
        }
        let requested = self.wait_from.iter().find_map(|wait| wait(failure)).unwrap_or_default();
        if requested > self.max_backoff {
            return None;
        }
        let doubled = i32::try_from(failures.saturating_sub(1)).unwrap_or(i32::MAX);
        let most = self.max_backoff.as_secs_f64();
        let backoff = (self.backoff.as_secs_f64() * self.factor.powi(doubled)).min(most);
        let (shortened, lengthened) = match &self.jitter {
            None => (backoff, 0.0),
            Some(random) => {
                let half = 0.5 * backoff;
                let jitter = half * random().clamp(0.0, 1.0);
                (half + jitter, jitter)
            }
        };
        // NaN (zero times infinity) means no wait.
        let wait = |seconds| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::ZERO);
        let backoff = wait(shortened).min(self.max_backoff);
        Some(if requested.is_zero() {
            backoff
        } else {
            backoff.max(requested.saturating_add(wait(lengthened)))
        })
    }

    pub(super) fn waits(&self) -> bool {
        let waits = !self.backoff.is_zero() || !self.wait_from.is_empty();
        self.attempts > 1 && waits && !self.max_backoff.is_zero()
    }

    pub(super) fn problem(&self) -> Option<&'static str> {
        if self.attempts == 0 {
            Some("allows no attempt: `Retry::attempts` includes the first attempt, so use at least 1")
        } else if !(self.factor.is_finite() && self.factor >= 1.0) {
            Some("has a `factor` that is less than 1 or not finite: use 1 or more")
        } else {
            None
        }
    }
}

/// Returns the error of a node, or the first of its causes, that has type `E`. The failure of a panic has none.
fn cause<E: StdError + 'static>(failure: &NodeFailure) -> Option<&E> {
    let mut causes = chain(&*failure.error).filter(|_| !failure.panicked);
    causes.find_map(|error| error.downcast_ref())
}

/// Returns a random number from 0 to 1.
fn random() -> f64 {
    // Each `RandomState` has its own keys, derived from the operating system's randomness.
    let bits = RandomState::new().build_hasher().finish() >> 11;
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit into a double")]
    let number = bits as f64 / (1_u64 << 53) as f64;
    number
}

impl fmt::Debug for Retry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Retry")
            .field("attempts", &self.attempts)
            .field("backoff", &self.backoff)
            .field("factor", &self.factor)
            .field("max_backoff", &self.max_backoff)
            .field("jitter", &self.jitter.is_some())
            .field("conditions", &self.when.len())
            .field("waits_from_errors", &self.wait_from.len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Retry;
    use crate::error::NodeFailure;

    /// An error that requests a wait.
    #[derive(Debug, thiserror::Error)]
    #[error("busy")]
    struct Busy(Option<Duration>);

    #[derive(Debug, thiserror::Error)]
    #[error("no page")]
    struct NoPage(#[source] Busy);

    fn failure(requested: Option<Duration>) -> NodeFailure {
        NodeFailure::new("fetch", 1, 1, NoPage(Busy(requested)).into(), None)
    }

    fn waits_for(retry: &Retry, requested: Option<Duration>) -> Vec<u128> {
        let failure = failure(requested);
        let waits = (1..).map_while(|failures| retry.wait_after(failures, &failure));
        waits.map(|wait| wait.as_millis()).collect()
    }

    fn waits(retry: &Retry) -> Vec<u128> {
        waits_for(retry, None)
    }

    #[test]
    fn waits_grow_by_the_factor_up_to_the_maximum() {
        let retry = |attempts| Retry::attempts(attempts).backoff(Duration::from_millis(100));
        let second = Duration::from_secs(1);
        for (retry, expected) in [
            (retry(1), vec![]),
            (retry(4), vec![100, 200, 400]),
            (retry(4).factor(1.0), vec![100, 100, 100]),
            (retry(6).max_backoff(second), vec![100, 200, 400, 800, 1000]),
            (retry(4).jitter_by(|| 0.0), vec![50, 100, 200]),
            (retry(4).jitter_by(|| 1.0), vec![100, 200, 400]),
            (retry(4).jitter_by(|| f64::NAN).max_backoff(second), vec![0, 0, 0]),
            (retry(3).backoff(Duration::ZERO), vec![0, 0]),
        ] {
            assert_eq!(waits(&retry), expected, "{retry:?}");
        }
        let long = Retry::attempts(u32::MAX).wait_after(u32::MAX - 1, &failure(None));
        assert_eq!(long, Some(Duration::from_secs(128)), "the largest power does not overflow");
    }

    #[test]
    fn error_that_requests_a_wait_is_retried_no_earlier() {
        let retry = |attempts| {
            let retry = Retry::attempts(attempts).backoff(Duration::from_millis(100));
            retry.max_backoff(Duration::from_secs(2)).wait_from(|busy: &Busy| busy.0)
        };
        let millis = |millis| Some(Duration::from_millis(millis));
        for (retry, requested, expected) in [
            (retry(4), None, vec![100, 200, 400]),
            (retry(4), millis(0), vec![100, 200, 400]),
            (retry(4), millis(300), vec![300, 300, 400]),
            (retry(3).jitter_by(|| 0.0), millis(300), vec![300, 300]),
            (retry(3).jitter_by(|| 1.0), millis(300), vec![350, 400]),
            (retry(2), millis(2000), vec![2000]),
            (retry(4), millis(2001), vec![]),
            (retry(2).backoff(Duration::ZERO), millis(300), vec![300]),
        ] {
            assert_eq!(waits_for(&retry, requested), expected, "{retry:?}");
            assert!(retry.waits(), "{retry:?} needs a timer");
        }
    }

    #[test]
    fn jitter_is_between_half_and_full_wait() {
        let retry = Retry::attempts(2).backoff(Duration::from_secs(1)).jitter();
        let waits: Vec<f64> =
            (0..100).map(|_| retry.wait_after(1, &failure(None)).unwrap().as_secs_f64()).collect();
        assert!(waits.iter().all(|wait| (0.5..=1.0).contains(wait)), "{waits:?}");
        assert!(waits.iter().any(|wait| *wait < 0.7) && waits.iter().any(|wait| *wait > 0.8), "{waits:?}");
    }
}
