use serde_json::json;
use serde_json::value::RawValue;
use superstep::interrupt::OpenInterrupt;

use crate::graphs::RunFailure;
use crate::protocol::RunStatus;
use crate::stream::{interrupts_json, with_interrupts};

/// The way in which a run has ended.
#[derive(Debug)]
pub(crate) enum RunOutcome {
    /// The graph has finished.
    Done(Box<RawValue>),
    /// The run has stopped at questions, a breakpoint, or a sleep.
    Stopped { values: Box<RawValue>, interrupts: Vec<OpenInterrupt> },
    /// The run has failed.
    Failed(RunFailure),
    /// The run was cancelled, and its work is kept.
    Cancelled,
    /// The run was cancelled and removed.
    RolledBack,
    /// The server stops. The next server continues the run.
    HandedOver,
}

impl RunOutcome {
    /// Returns the status of the run.
    pub(crate) fn status(&self) -> RunStatus {
        match self {
            Self::Done(_) | Self::Stopped { .. } => RunStatus::Success,
            Self::Failed(_) => RunStatus::Error,
            Self::Cancelled | Self::RolledBack => RunStatus::Interrupted,
            Self::HandedOver => RunStatus::Pending,
        }
    }

    /// Returns the name of the error with which the run has failed.
    pub(crate) fn error_type(&self) -> Option<&str> {
        match self {
            Self::Failed(failure) => Some(&failure.error),
            _ => None,
        }
    }

    /// Returns the body of a response that has waited for the run: the state, or the error.
    pub(crate) fn body(&self) -> String {
        let error = |name: &str, message: &str| {
            json!({ "__error__": { "error": name, "message": message } }).to_string()
        };
        match self {
            Self::Done(values) => values.get().to_owned(),
            Self::Stopped { values, interrupts } if interrupts.is_empty() => values.get().to_owned(),
            Self::Stopped { values, interrupts } => with_interrupts(values, interrupts_json(interrupts)),
            Self::Failed(failure) => error(&failure.error, &failure.message),
            Self::Cancelled => error(USER_INTERRUPT, "the run was cancelled"),
            Self::RolledBack => error(USER_ROLLBACK, "the run was cancelled and rolled back"),
            Self::HandedOver => {
                error("ServerStopping", "the server stops; the run continues when it starts again")
            }
        }
    }
}

/// The error of a thread whose run was cancelled.
pub(crate) const USER_INTERRUPT: &str = "UserInterrupt";

const USER_ROLLBACK: &str = "UserRollback";
