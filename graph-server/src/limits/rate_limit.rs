use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::Counted;

/// A limit for the rate of the requests of each caller: a burst, and then one request in each interval.
///
/// For each caller, it keeps the time at which the burst is whole again (the generic cell rate algorithm).
#[derive(Debug)]
pub(crate) struct RateLimit {
    interval: Duration,
    /// The part of a burst that is used up before a request has to wait.
    tolerance: Duration,
    callers: Mutex<Callers>,
}

#[derive(Debug, Default)]
struct Callers {
    whole_at: HashMap<Counted, Instant>,
    /// The number of callers at which those with a whole burst are forgotten. It doubles with what remains.
    trim_at: usize,
}

/// The number of callers below which none is forgotten.
const TRIM_AT: usize = 1_024;

impl RateLimit {
    /// Creates a limit of a number of requests per second, with bursts of up to `burst`.
    pub(crate) fn new(per_second: u32, burst: u32) -> Self {
        let interval = Duration::from_secs(1) / per_second.max(1);
        Self { interval, tolerance: interval * (burst.max(1) - 1), callers: Mutex::default() }
    }

    /// Counts a request.
    ///
    /// # Errors
    /// The time after which the caller may try again.
    pub(crate) fn count(&self, caller: &Counted) -> Result<(), Duration> {
        let now = Instant::now();
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        if callers.whole_at.len() >= callers.trim_at.max(TRIM_AT) {
            callers.whole_at.retain(|_, at| *at > now);
            callers.trim_at = callers.whole_at.len() * 2;
        }
        let whole_at = callers.whole_at.entry(caller.clone()).or_insert(now);
        let used = whole_at.saturating_duration_since(now);
        if used > self.tolerance {
            return Err(used - self.tolerance);
        }
        *whole_at = now + used + self.interval;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(name: &str) -> Counted {
        Counted::Identity(name.into())
    }

    #[tokio::test(start_paused = true)]
    async fn a_burst_passes_and_then_one_request_in_each_interval() {
        let limit = RateLimit::new(10, 3);
        let ann = caller("ann");
        for _ in 0..3 {
            assert_eq!(limit.count(&ann), Ok(()));
        }
        assert_eq!(limit.count(&ann), Err(Duration::from_millis(100)));
        assert_eq!(limit.count(&caller("bob")), Ok(()));
        tokio::time::advance(Duration::from_millis(60)).await;
        assert_eq!(limit.count(&ann), Err(Duration::from_millis(40)));
        tokio::time::advance(Duration::from_millis(40)).await;
        assert_eq!(limit.count(&ann), Ok(()));
        assert!(limit.count(&ann).is_err());
        tokio::time::advance(Duration::from_secs(60)).await;
        for _ in 0..3 {
            assert_eq!(limit.count(&ann), Ok(()));
        }
        assert!(limit.count(&ann).is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn callers_with_a_whole_burst_are_forgotten() {
        let limit = RateLimit::new(1, 1);
        for round in 0..20 {
            for index in 0..TRIM_AT {
                assert_eq!(limit.count(&caller(&format!("{round}-{index}"))), Ok(()));
            }
            tokio::time::advance(Duration::from_secs(2)).await;
        }
        assert!(limit.callers.lock().unwrap().whole_at.len() <= 2 * TRIM_AT);
    }
}
