use serde::{Deserialize, Serialize};

use crate::protocol::{Cron, Timestamp};

/// A cron, as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CronRecord {
    /// The cron, as clients see it.
    #[serde(flatten)]
    pub(crate) cron: Cron,
    /// `true` if the owner sees everything.
    #[serde(default)]
    pub(crate) sees_all: bool,
}

impl CronRecord {
    /// Returns the time of the next run, if there is one.
    pub(crate) fn due(&self) -> Option<Timestamp> {
        self.cron.next_run_date.filter(|_| self.cron.enabled)
    }
}
