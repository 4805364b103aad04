use croner::Cron;
use croner::parser::CronParser;
use jiff::tz::TimeZone;

use crate::protocol::Timestamp;

/// The times of a cron: a pattern such as `0 9 * * MON-FRI`, in a time zone.
///
/// A pattern has five fields: minute, hour, day of the month, month and day of the week. A sixth field before them is the second, and a
/// seventh at the end the year. In the hour that a clock skips, a fixed time is due at the end of the gap. In an hour that
/// a clock repeats, it is due once.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    pattern: Cron,
    zone: TimeZone,
}

/// A schedule that cannot be kept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InvalidSchedule {
    /// The pattern is not one.
    #[error("`schedule`: {0}")]
    Pattern(String),
    /// The time zone is not known.
    #[error("`timezone`: the time zone `{0}` is not known, expected a name such as `Europe/Berlin`")]
    Zone(String),
}

/// The length of the longest pattern that is read.
const MAX_PATTERN: usize = 256;

impl Schedule {
    /// Reads a schedule. Without a time zone, it is in UTC.
    ///
    /// # Errors
    /// The pattern is not one, or the time zone is not known.
    pub(crate) fn new(pattern: &str, zone: Option<&str>) -> Result<Self, InvalidSchedule> {
        if pattern.len() > MAX_PATTERN {
            return Err(InvalidSchedule::Pattern(format!("longer than {MAX_PATTERN} bytes")));
        }
        let pattern = CronParser::new().parse(pattern);
        let pattern = pattern.map_err(|error| InvalidSchedule::Pattern(error.to_string()))?;
        let zone = match zone {
            None => TimeZone::UTC,
            Some(name) => TimeZone::get(name).map_err(|_| InvalidSchedule::Zone(name.to_owned()))?,
        };
        Ok(Self { pattern, zone })
    }

    /// Returns the first time after another one, or `None`.
    pub(crate) fn after(&self, time: Timestamp) -> Option<Timestamp> {
        let time = jiff::Timestamp::from_microsecond(i64::try_from(time.micros()).ok()?).ok()?;
        let found = self.pattern.find_next_occurrence(&time.to_zoned(self.zone.clone()), false).ok()?;
        Timestamp::from_micros(u64::try_from(found.timestamp().as_microsecond()).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> Timestamp {
        format!("{text}.000000+00:00").parse().unwrap()
    }

    #[track_caller]
    fn check(pattern: &str, zone: Option<&str>, from: &str, expected: &[&str]) {
        let schedule = Schedule::new(pattern, zone).unwrap();
        let mut at = time(from);
        for expected in expected {
            at = schedule.after(at).unwrap();
            assert_eq!(at, time(expected), "{pattern} in {zone:?}");
        }
    }

    #[test]
    fn times_follow_the_pattern() {
        check("*/20 * * * *", None, "2026-11-24T12:00:00", &["2026-11-24T12:20:00", "2026-11-24T12:40:00"]);
        check(
            "0 9 * * MON-FRI",
            None,
            "2026-11-20T10:00:00",
            &["2026-11-23T09:00:00", "2026-11-24T09:00:00"],
        );
        check("0 0 29 2 *", None, "2026-01-01T00:00:00", &["2028-02-29T00:00:00"]);
        check("0 0 L * *", None, "2026-11-24T00:00:00", &["2026-11-30T00:00:00", "2026-12-31T00:00:00"]);
        check("@hourly", None, "2026-11-24T12:00:00", &["2026-11-24T13:00:00"]);
    }

    #[test]
    fn times_are_those_of_the_time_zone() {
        let tokyo = Some("Asia/Tokyo");
        check("0 9 * * *", tokyo, "2026-11-24T00:00:00", &["2026-11-25T00:00:00"]);
        // Summer time begins on 2026-03-29 and ends on 2026-10-25.
        let berlin = Some("Europe/Berlin");
        check("0 9 * * *", berlin, "2026-03-28T00:00:00", &["2026-03-28T08:00:00", "2026-03-29T07:00:00"]);
        check("30 2 * * *", berlin, "2026-03-28T12:00:00", &["2026-03-29T01:00:00", "2026-03-30T00:30:00"]);
        check("30 2 * * *", berlin, "2026-10-24T12:00:00", &["2026-10-25T00:30:00", "2026-10-26T01:30:00"]);
    }

    /// A schedule without a fixed hour is due in the hour that is repeated as in any other.
    #[test]
    fn intervals_go_on_over_a_change_of_the_clock() {
        let berlin = Some("Europe/Berlin");
        check(
            "*/30 * * * *",
            berlin,
            "2026-10-25T00:00:00",
            &["2026-10-25T00:30:00", "2026-10-25T01:00:00", "2026-10-25T01:30:00", "2026-10-25T02:00:00"],
        );
        check(
            "*/30 * * * *",
            berlin,
            "2026-03-29T00:00:00",
            &["2026-03-29T00:30:00", "2026-03-29T01:00:00", "2026-03-29T01:30:00"],
        );
    }

    #[test]
    fn the_next_time_is_always_later() {
        let zones = [
            "Europe/Berlin",
            "America/St_Johns",
            "Australia/Lord_Howe",
            "Antarctica/Troll",
            "Africa/Casablanca",
            "Asia/Kathmandu",
        ];
        for zone in zones {
            for pattern in
                ["* * * * *", "*/7 * * * *", "30 2 * * *", "15 1-3 * * *", "0 0 * * *", "59 59 23 * * *"]
            {
                let schedule = Schedule::new(pattern, Some(zone)).unwrap();
                let start: jiff::Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
                // Three hours around each change of the clock, if the zone has any.
                for change in schedule.zone.clone().following(start).take(4) {
                    let change = u64::try_from(change.timestamp().as_microsecond()).unwrap();
                    for minutes in (0..360).step_by(5) {
                        let at = change - 180 * 60 * 1_000_000 + minutes * 60 * 1_000_000 + 1;
                        let at = Timestamp::from_micros(at).unwrap();
                        let next = schedule.after(at).unwrap();
                        assert!(next > at, "{pattern} in {zone} after {at}: {next}");
                    }
                }
            }
        }
    }

    #[test]
    fn other_schedules_are_refused() {
        for pattern in ["", "* * *", "61 * * * *", "every day", "* * * * * * * *", &"*".repeat(300)] {
            assert!(matches!(Schedule::new(pattern, None), Err(InvalidSchedule::Pattern(_))), "{pattern}");
        }
        assert!(matches!(Schedule::new("* * * * *", Some("Mars/Base")), Err(InvalidSchedule::Zone(_))));
        assert_eq!(Schedule::new("0 0 30 2 *", None).unwrap().after(time("2026-01-01T00:00:00")), None);
    }
}
