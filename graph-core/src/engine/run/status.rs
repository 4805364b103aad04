//! The status of a thread. The run at the root of the thread writes it, in the batch with the change that causes it.

use crate::checkpoint::{StatusKind, StoredStatus};
use crate::engine::context::wait_again;
use crate::engine::persist::Persist;
use crate::engine::stored::Stopped;
use crate::error::ErrorKind;

use super::driver::{Driver, not_filled};

impl Persist {
    /// Marks the thread as running, from the first write of the run.
    pub(crate) fn set_running(&mut self) {
        let running = StoredStatus::new(StatusKind::Running);
        self.status = Some(running);
        self.shared.begin_with_status(running);
    }

    /// Changes the status of the thread together with the writes that were pushed last.
    ///
    /// Must follow them without an await in between. A subgraph run does not change the status.
    pub(crate) fn set_status(&mut self, status: StoredStatus) {
        if self.status.is_some_and(|last| last != status) {
            self.status = Some(status);
            self.shared.set_status(status);
        }
    }
}

impl Driver {
    /// Returns the status of a thread with the current plan.
    pub(crate) fn planned_status(&self) -> StatusKind {
        if !self.tasks.is_empty() {
            return StatusKind::Running;
        }
        match not_filled(&self.graph, &self.progress) {
            None => StatusKind::Finished,
            Some(_) => StatusKind::Failed,
        }
    }

    /// Marks the thread as running again, after a stop or a failure of this run.
    pub(crate) fn runs_again(&mut self) {
        if let Some(persist) = &mut self.persist {
            persist.set_status(StoredStatus::new(StatusKind::Running));
        }
    }

    /// Sets the status of a thread that has nothing left to run.
    pub(crate) fn ends_with_status(&mut self) {
        if self.tasks.is_empty() && self.stop_point.is_none() {
            let status = StoredStatus::new(self.planned_status());
            if let Some(persist) = &mut self.persist {
                persist.set_status(status);
            }
        }
    }

    /// Sets the status of a thread at which the run has stopped.
    pub(crate) fn stops_with_status(&mut self) {
        let Some(stop_point) = &self.stop_point else { return };
        if self.tasks.is_empty() {
            return;
        }
        let at_breakpoint = !(stop_point.before.is_empty() && stop_point.after.is_empty());
        let stopped = Stopped::new(stop_point.requested, stop_point.wakes_at);
        let status = stopped.status(at_breakpoint, self.interrupts().next().is_some());
        if let Some(persist) = &mut self.persist {
            persist.set_status(status);
        }
    }

    /// Sets the status of a thread whose run has failed.
    pub(crate) fn fails_with_status(&mut self, error: &ErrorKind) {
        let mut wakes_at = None;
        let kind = match error {
            _ if wait_again(error) => {
                wakes_at = self.first_deadline();
                StatusKind::WaitingForAnswer
            }
            ErrorKind::Cancelled { .. } => StatusKind::Stopped,
            ErrorKind::RecursionLimit { .. } | ErrorKind::SuperstepTimeout { .. } => StatusKind::AtLimit,
            // This runtime cannot run the thread, but another one can: the run counts as crashed.
            ErrorKind::Runtime(_) => return,
            _ => StatusKind::Failed,
        };
        if let Some(persist) = &mut self.persist {
            persist.set_status(StoredStatus::new(kind).wakes_at(wakes_at));
        }
    }
}
