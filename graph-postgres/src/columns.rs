//! Conversions between stored columns and the types of the stores.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Converts a time to milliseconds since 1970. Earlier times are negative.
pub(crate) fn millis(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
        Err(before) => {
            i64::try_from(before.duration().as_nanos().div_ceil(1_000_000)).map_or(i64::MIN, |millis| -millis)
        }
    }
}

pub(crate) fn time(millis: i64) -> Option<SystemTime> {
    let distance = Duration::from_millis(millis.unsigned_abs());
    if millis < 0 { UNIX_EPOCH.checked_sub(distance) } else { UNIX_EPOCH.checked_add(distance) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_round_trip_before_and_after_1970() {
        for wanted in [0, 1, -1, 1_700_000_000_123, -1_700_000_000_123] {
            assert_eq!(time(wanted).map(millis), Some(wanted));
        }
        assert_eq!(millis(UNIX_EPOCH + Duration::from_micros(1_999)), 1);
        assert_eq!(millis(UNIX_EPOCH - Duration::from_micros(1_999)), -2);
    }
}
