//! Times as stores keep them: in milliseconds since 1970.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Converts a time to milliseconds since 1970. Earlier times are negative.
///
/// A time between two milliseconds becomes the earlier one. A time out of range becomes the least or the greatest number.
pub fn from_time(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
        Err(before) => {
            i64::try_from(before.duration().as_nanos().div_ceil(1_000_000)).map_or(i64::MIN, |millis| -millis)
        }
    }
}

/// Converts milliseconds since 1970 to a time. Returns `None` if the platform cannot represent it.
pub fn to_time(millis: i64) -> Option<SystemTime> {
    let distance = Duration::from_millis(millis.unsigned_abs());
    if millis < 0 { UNIX_EPOCH.checked_sub(distance) } else { UNIX_EPOCH.checked_add(distance) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_round_trip_before_and_after_1970() {
        for wanted in [0, 1, -1, 1_700_000_000_123, -1_700_000_000_123] {
            assert_eq!(to_time(wanted).map(from_time), Some(wanted));
        }
        assert_eq!(from_time(UNIX_EPOCH + Duration::from_micros(1_999)), 1);
        assert_eq!(from_time(UNIX_EPOCH - Duration::from_micros(1_999)), -2);
    }
}
