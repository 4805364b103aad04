//! The wall clock, shifted like tokio's timer clock.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Returns the current time. If a test has paused or advanced tokio's clock, the result is shifted by the same
/// amount.
pub(crate) fn now() -> SystemTime {
    let (wall, ours, timers) = (SystemTime::now(), Instant::now(), tokio::time::Instant::now().into_std());
    let shifted = match timers.checked_duration_since(ours) {
        Some(ahead) => wall.checked_add(ahead),
        None => wall.checked_sub(ours.saturating_duration_since(timers)),
    };
    shifted.unwrap_or(wall)
}

/// Converts a time to its stored form: milliseconds since 1970, rounded up so that no timer fires early.
pub(crate) fn to_millis(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

/// Converts a stored time back; `None` if the system's clock cannot represent it.
pub(crate) fn from_millis(millis: u64) -> Option<SystemTime> {
    UNIX_EPOCH.checked_add(Duration::from_millis(millis))
}

#[cfg(test)]
mod tests {
    use super::{from_millis, to_millis};
    use std::time::{Duration, SystemTime};

    #[test]
    fn stored_time_is_never_early() {
        let time = SystemTime::UNIX_EPOCH + Duration::from_nanos(1_000_001);
        assert_eq!(to_millis(time), 2);
        assert_eq!(from_millis(2), Some(SystemTime::UNIX_EPOCH + Duration::from_millis(2)));
        assert_eq!(to_millis(SystemTime::UNIX_EPOCH - Duration::from_secs(1)), 0);
    }
}
