use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::StoreError;

/// A time to live: from one millisecond to a thousand years, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ttl(u64);

/// About a thousand years.
const MAX_MILLIS: u64 = 1_000 * 366 * 24 * 60 * 60 * 1_000;

impl Ttl {
    /// Creates a time to live. Fractions of a millisecond are cut off.
    ///
    /// # Errors
    /// [`Invalid`](StoreError::Invalid) if the duration is less than a millisecond or more than a thousand years.
    pub fn new(ttl: Duration) -> Result<Self, StoreError> {
        match u64::try_from(ttl.as_millis()) {
            Ok(0) => Err(StoreError::invalid(format!(
                "a time to live of {ttl:?} is too short: use at least one millisecond, or delete the item"
            ))),
            Ok(millis) if millis <= MAX_MILLIS => Ok(Self(millis)),
            _ => Err(StoreError::invalid(format!(
                "a time to live of {ttl:?} is longer than a thousand years: leave it out or use `forever()`"
            ))),
        }
    }

    /// Creates a time to live from milliseconds. Returns `None` if the number is out of range.
    pub fn from_millis(millis: u64) -> Option<Self> {
        (1..=MAX_MILLIS).contains(&millis).then_some(Self(millis))
    }

    /// Returns the time to live in milliseconds.
    pub fn as_millis(self) -> u64 {
        self.0
    }

    /// Returns the expiration time of an item that is written or refreshed at `now`.
    ///
    /// Returns `None` if the system cannot represent the time.
    pub fn end(self, now: SystemTime) -> Option<SystemTime> {
        to_the_millisecond(now).checked_add(Duration::from_millis(self.0))
    }
}

/// Rounds a time down to the millisecond.
pub(crate) fn to_the_millisecond(time: SystemTime) -> SystemTime {
    let rounded = match time.duration_since(UNIX_EPOCH) {
        Ok(since) => u64::try_from(since.as_millis())
            .ok()
            .and_then(|millis| UNIX_EPOCH.checked_add(Duration::from_millis(millis))),
        Err(before) => u64::try_from(before.duration().as_nanos().div_ceil(1_000_000))
            .ok()
            .and_then(|millis| UNIX_EPOCH.checked_sub(Duration::from_millis(millis))),
    };
    rounded.unwrap_or(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ttl_is_between_a_millisecond_and_a_thousand_years() {
        assert!(Ttl::new(Duration::from_micros(999)).is_err());
        assert_eq!(Ttl::new(Duration::from_micros(1_999)).unwrap().as_millis(), 1);
        assert!(Ttl::new(Duration::from_secs(60 * 60 * 24 * 365 * 1_000)).is_ok());
        assert!(Ttl::new(Duration::MAX).is_err());
        assert_eq!(Ttl::from_millis(0), None);
        assert_eq!(Ttl::from_millis(u64::MAX), None);
    }

    #[test]
    fn times_are_cut_to_the_millisecond() {
        let at = |nanos| UNIX_EPOCH + Duration::from_nanos(nanos);
        assert_eq!(to_the_millisecond(at(1_999_999)), at(1_000_000));
        assert_eq!(
            to_the_millisecond(UNIX_EPOCH - Duration::from_nanos(1)),
            UNIX_EPOCH - Duration::from_millis(1)
        );
    }
}
