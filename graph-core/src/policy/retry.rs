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
}

type Condition = dyn Fn(&NodeFailure) -> bool + Send + Sync;

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
        self.when_failure(move |failure| {
            let mut errors = chain(&*failure.error).filter(|_| !failure.panicked);
            errors.find_map(|error| error.downcast_ref::<E>()).is_some_and(&fits)
        })
    }

    /// Applies the policy to failures for which `fits` returns `true`, including panics.
    pub fn when_failure(mut self, fits: impl Fn(&NodeFailure) -> bool + Send + Sync + 'static) -> Self {
        self.when.push(Arc::new(fits));
        self
    }

    pub(crate) fn applies_to(&self, failure: &NodeFailure) -> bool {
        if self.when.is_empty() { !failure.panicked } else { self.when.iter().any(|fits| fits(failure)) }
    }

    /// Returns the wait after this number of failures, or `None` if no attempt is left.
    pub(crate) fn wait_after(&self, failures: u32) -> Option<Duration> {
        if failures >= self.attempts {
            return None;
        }
        let doubled = i32::try_from(failures.saturating_sub(1)).unwrap_or(i32::MAX);
        let most = self.max_backoff.as_secs_f64();
        let mut seconds = (self.backoff.as_secs_f64() * self.factor.powi(doubled)).min(most);
        if let Some(random) = &self.jitter {
            seconds *= 0.5 + 0.5 * random().clamp(0.0, 1.0);
        }
        // NaN (zero times infinity) means no wait.
        Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::ZERO).min(self.max_backoff))
    }

    pub(super) fn waits(&self) -> bool {
        self.attempts > 1 && !self.backoff.is_zero() && !self.max_backoff.is_zero()
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
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Retry;

    fn waits(retry: &Retry) -> Vec<u128> {
        (1..).map_while(|failures| retry.wait_after(failures)).map(|wait| wait.as_millis()).collect()
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
        let long = Retry::attempts(u32::MAX).wait_after(u32::MAX - 1);
        assert_eq!(long, Some(Duration::from_secs(128)), "the largest power does not overflow");
    }

    #[test]
    fn jitter_is_between_half_and_full_wait() {
        let retry = Retry::attempts(2).backoff(Duration::from_secs(1)).jitter();
        let waits: Vec<f64> = (0..100).map(|_| retry.wait_after(1).unwrap().as_secs_f64()).collect();
        assert!(waits.iter().all(|wait| (0.5..=1.0).contains(wait)), "{waits:?}");
        assert!(waits.iter().any(|wait| *wait < 0.7) && waits.iter().any(|wait| *wait > 0.8), "{waits:?}");
    }
}
