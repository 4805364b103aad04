//! The time of day, by the clock that timers run by.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The time. Where a test has stopped tokio's clock and winds it, this one stands still and is wound with it.
pub(crate) fn now() -> SystemTime {
    let (wall, ours, timers) = (SystemTime::now(), Instant::now(), tokio::time::Instant::now().into_std());
    let shifted = match timers.checked_duration_since(ours) {
        Some(ahead) => wall.checked_add(ahead),
        None => wall.checked_sub(ours.saturating_duration_since(timers)),
    };
    shifted.unwrap_or(wall)
}

/// A time as it is stored: milliseconds, none of them early.
pub(crate) fn to_millis(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

/// A time that was stored; nothing for one that no clock can tell.
pub(crate) fn from_millis(millis: u64) -> Option<SystemTime> {
    UNIX_EPOCH.checked_add(Duration::from_millis(millis))
}

#[cfg(test)]
mod tests {
    use super::{from_millis, to_millis};
    use std::time::{Duration, SystemTime};

    #[test]
    fn what_is_stored_is_never_early() {
        let time = SystemTime::UNIX_EPOCH + Duration::from_nanos(1_000_001);
        assert_eq!(to_millis(time), 2);
        assert_eq!(from_millis(2), Some(SystemTime::UNIX_EPOCH + Duration::from_millis(2)));
        assert_eq!(to_millis(SystemTime::UNIX_EPOCH - Duration::from_secs(1)), 0);
    }
}
