use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::StoreError;

/// How long an item lives: from a millisecond to a thousand years, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ttl(u64);

/// A thousand years, about.
const LONGEST: u64 = 1_000 * 366 * 24 * 60 * 60 * 1_000;

impl Ttl {
    /// A time to live; parts of a millisecond are left out.
    ///
    /// # Errors
    /// [`Invalid`](StoreError::Invalid) for less than a millisecond, or more than a thousand years.
    pub fn new(ttl: Duration) -> Result<Self, StoreError> {
        match u64::try_from(ttl.as_millis()) {
            Ok(0) => Err(StoreError::invalid(format!(
                "a time to live of {ttl:?} is none: give at least a millisecond, or delete the item"
            ))),
            Ok(millis) if millis <= LONGEST => Ok(Self(millis)),
            _ => Err(StoreError::invalid(format!(
                "a time to live of {ttl:?} is longer than a thousand years: leave it out, or say `forever()`"
            ))),
        }
    }

    /// The time to live of so many milliseconds, as it was kept; `None` where there is none such.
    pub fn from_millis(millis: u64) -> Option<Self> {
        (1..=LONGEST).contains(&millis).then_some(Self(millis))
    }

    /// In milliseconds.
    pub fn as_millis(self) -> u64 {
        self.0
    }

    /// When an item expires that was written, or refreshed, at this time. A time that the system cannot tell of is none.
    pub fn end(self, now: SystemTime) -> Option<SystemTime> {
        to_the_millisecond(now).checked_add(Duration::from_millis(self.0))
    }
}

/// A time as it is kept: parts of a millisecond are left out.
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
    fn a_time_to_live_is_a_millisecond_to_a_thousand_years() {
        assert!(Ttl::new(Duration::from_micros(999)).is_err());
        assert_eq!(Ttl::new(Duration::from_micros(1_999)).unwrap().as_millis(), 1);
        assert!(Ttl::new(Duration::from_secs(60 * 60 * 24 * 365 * 1_000)).is_ok());
        assert!(Ttl::new(Duration::MAX).is_err());
        assert_eq!(Ttl::from_millis(0), None);
        assert_eq!(Ttl::from_millis(u64::MAX), None);
    }

    #[test]
    fn times_are_kept_to_the_millisecond() {
        let at = |nanos| UNIX_EPOCH + Duration::from_nanos(nanos);
        assert_eq!(to_the_millisecond(at(1_999_999)), at(1_000_000));
        assert_eq!(
            to_the_millisecond(UNIX_EPOCH - Duration::from_nanos(1)),
            UNIX_EPOCH - Duration::from_millis(1)
        );
    }
}
