use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A point in time with microseconds. Its string is ISO 8601 in UTC: `2026-11-24T12:59:18.434686+00:00`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Timestamp(u64);

const MICROS: u64 = 1_000_000;

/// The first microsecond of the year 10000, whose string would be longer.
const END: u64 = 253_402_300_800 * MICROS;

impl Timestamp {
    /// Returns the current time.
    pub(crate) fn now() -> Self {
        SystemTime::now().into()
    }

    /// Returns the microseconds since 1970.
    pub(crate) fn micros(self) -> u64 {
        self.0
    }

    /// Returns the time with these microseconds since 1970. `None` for a time after the year 9999.
    pub(crate) fn from_micros(micros: u64) -> Option<Self> {
        (micros < END).then_some(Self(micros))
    }

    /// Returns the duration since an earlier time. Zero if it is later.
    pub(crate) fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }

    /// Returns the time before a duration.
    #[cfg(feature = "webhooks")]
    pub(crate) fn before(self, duration: Duration) -> Self {
        let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        Self(self.0.saturating_sub(micros))
    }

    /// Returns the time after a duration.
    pub(crate) fn after(self, duration: Duration) -> Self {
        let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(micros).min(END - 1))
    }
}

impl Timestamp {
    /// Reads a time in UTC that ends with `Z` and has up to nine digits of a second's fraction.
    pub(crate) fn of_utc(text: &str) -> Option<Self> {
        let (second, fraction) = match text.strip_suffix('Z')?.split_once('.') {
            Some((second, fraction)) => (second, fraction),
            None => (text.strip_suffix('Z')?, ""),
        };
        let micros: String = fraction.chars().chain("000000".chars()).take(6).collect();
        format!("{second}.{micros}+00:00").parse().ok()
    }
}

impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(u64::try_from(since.as_micros()).unwrap_or(u64::MAX).min(END - 1))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, micros) = (self.0 / MICROS, self.0 % MICROS);
        let (days, second) = (seconds / 86_400, seconds % 86_400);
        let (year, month, day) = date(days);
        let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}+00:00")
    }
}

/// Returns year, month and day of a number of days since 1970-01-01, by Howard Hinnant's `civil_from_days`.
fn date(days: u64) -> (u64, u64, u64) {
    // Years begin in March, so that the leap day is the last one; an era has 400 years.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

/// Returns the days since 1970-01-01, the inverse of [`date`].
fn days(year: u64, month: u64, day: u64) -> Option<u64> {
    let year = if month <= 2 { year.checked_sub(1)? } else { year };
    let (era, year) = (year / 400, year % 400);
    let month = if month > 2 { month - 3 } else { month + 9 };
    let day = (153 * month + 2) / 5 + day - 1;
    (era * 146_097 + year * 365 + year / 4 - year / 100 + day).checked_sub(719_468)
}

/// A string that is not a time as this server writes it.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not a time such as `2026-11-24T12:59:18.434686+00:00`")]
pub(crate) struct InvalidTime(String);

impl FromStr for Timestamp {
    type Err = InvalidTime;

    fn from_str(text: &str) -> Result<Self, InvalidTime> {
        parse(text).filter(|time| time.to_string() == text).ok_or_else(|| InvalidTime(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<Timestamp> {
    let number = |range: std::ops::Range<usize>| text.get(range)?.parse::<u64>().ok();
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    if month == 0 || month > 12 || day == 0 {
        return None;
    }
    let seconds = number(11..13)? * 3_600 + number(14..16)? * 60 + number(17..19)?;
    let micros = number(20..26)?;
    Some(Timestamp((days(year, month, day)? * 86_400 + seconds) * MICROS + micros))
}

impl JsonSchema for Timestamp {
    fn schema_name() -> Cow<'static, str> {
        "Timestamp".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time" })
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(seconds: u64, text: &str) {
        let time = Timestamp(seconds * MICROS + 7);
        assert_eq!(time.to_string(), text);
        assert_eq!(text.parse::<Timestamp>().unwrap(), time);
    }

    #[test]
    fn times_are_written_and_read() {
        check(0, "1970-01-01T00:00:00.000007+00:00");
        check(951_782_399, "2000-02-28T23:59:59.000007+00:00");
        check(951_782_400, "2000-02-29T00:00:00.000007+00:00");
        check(1_709_164_800, "2024-02-29T00:00:00.000007+00:00");
        check(4_107_542_399, "2100-02-28T23:59:59.000007+00:00");
        check(4_107_542_400, "2100-03-01T00:00:00.000007+00:00");
        check(253_402_300_799, "9999-12-31T23:59:59.000007+00:00");
    }

    #[test]
    fn times_of_other_writers_are_read() {
        for (text, micros) in [
            ("1970-01-01T00:00:01Z", 0),
            ("1970-01-01T00:00:01.5Z", 500_000),
            ("1970-01-01T00:00:01.000000999Z", 0),
        ] {
            assert_eq!(Timestamp::of_utc(text).map(Timestamp::micros), Some(MICROS + micros), "{text}");
        }
        for text in ["", "Z", "1970-01-01T00:00:01", "1970-01-01T00:00:01.xZ"] {
            assert_eq!(Timestamp::of_utc(text), None, "{text}");
        }
    }

    #[test]
    fn every_day_is_read_back() {
        for day in 0..60_000 {
            let (year, month, day_of_month) = date(day);
            assert_eq!(days(year, month, day_of_month), Some(day));
        }
    }

    #[test]
    fn other_strings_are_refused() {
        for text in ["", "2026-11-24", "2026-02-30T00:00:00.000000+00:00", "2026-11-24T12:59:18.434686+01:00"]
        {
            assert!(text.parse::<Timestamp>().is_err(), "{text}");
        }
    }
}
