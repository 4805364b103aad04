use serde::{Deserialize, Serialize};

/// The timer of a durable sleep.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredTimer", into = "StoredTimer")]
pub(crate) struct Timer {
    /// The time at which it fires, in milliseconds since 1970.
    pub(crate) until: u64,
    /// Its place among the answers and timers of its task; `None` until it fires.
    pub(crate) fired: Option<Fired>,
    /// `true` if its firing may not be durable, because the attempt ended while it was being written.
    pub(crate) unsaved: bool,
}

/// The place of a timer that has fired in the order in which its task's answers and timers were recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fired {
    /// The number of the task's timers that fired before it.
    pub(crate) nth: usize,
    /// The ids of the answers that were recorded before it, and after the timer before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) after: Vec<String>,
}

impl Timer {
    pub(crate) fn new(until: u64) -> Self {
        Self { until, fired: None, unsaved: false }
    }

    /// Returns the time at which it will fire; `None` if it has fired.
    pub(crate) fn pending(&self) -> Option<u64> {
        self.fired.is_none().then_some(self.until)
    }
}

/// A timer as its record stores it.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum StoredTimer {
    /// The time at which it will fire.
    Waits(u64),
    Fired {
        until: u64,
        #[serde(flatten)]
        fired: Fired,
    },
}

impl From<StoredTimer> for Timer {
    fn from(stored: StoredTimer) -> Self {
        match stored {
            StoredTimer::Waits(until) => Self::new(until),
            StoredTimer::Fired { until, fired } => Self { until, fired: Some(fired), unsaved: false },
        }
    }
}

impl From<Timer> for StoredTimer {
    fn from(timer: Timer) -> Self {
        let Timer { until, fired, .. } = timer;
        match fired {
            None => Self::Waits(until),
            Some(fired) => Self::Fired { until, fired },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Fired, Timer};

    #[track_caller]
    fn check(timer: &Timer, json: &str) {
        assert_eq!(serde_json::to_string(timer).unwrap(), json);
        assert_eq!(serde_json::from_str::<Timer>(json).unwrap(), *timer);
    }

    #[test]
    fn stored_forms_are_read_back() {
        check(&Timer::new(17), "17");
        let fired = |nth, after: &[&str]| {
            let after = after.iter().map(|&id| id.to_owned()).collect();
            Timer { fired: Some(Fired { nth, after }), ..Timer::new(17) }
        };
        check(&fired(0, &[]), r#"{"until":17,"nth":0}"#);
        check(&fired(2, &["a"]), r#"{"until":17,"nth":2,"after":["a"]}"#);
    }
}
