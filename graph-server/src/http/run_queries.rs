//! The options of requests about runs.

use schemars::JsonSchema;

use super::query::{Query, ReadQuery};
use crate::protocol::{CancelAction, RunField, RunStatus, StreamMode};

/// The options of a list of runs.
#[derive(JsonSchema)]
pub(super) struct RunList {
    /// The maximum number of runs.
    pub(super) limit: usize,
    /// The number of runs to skip.
    pub(super) offset: usize,
    /// Only runs with this status.
    pub(super) status: Option<RunStatus>,
    /// The fields to return. Without it, all.
    pub(super) select: Vec<RunField>,
}

impl ReadQuery for RunList {
    fn read(query: &mut Query) -> Self {
        Self {
            limit: query.integer("limit", 1..=1_000, 10),
            offset: query.integer("offset", 0..=usize::MAX >> 1, 0),
            status: query.value("status"),
            select: query.list("select"),
        }
    }
}

/// The options of a request that waits for a run.
#[derive(JsonSchema)]
pub(super) struct JoinQuery {
    /// `true` to cancel the run if the client disconnects.
    pub(super) cancel_on_disconnect: bool,
}

impl ReadQuery for JoinQuery {
    fn read(query: &mut Query) -> Self {
        Self { cancel_on_disconnect: query.flag("cancel_on_disconnect") }
    }
}

/// The options of a request for the events of a run.
#[derive(JsonSchema)]
pub(super) struct StreamQuery {
    /// `true` to cancel the run if the client disconnects.
    pub(super) cancel_on_disconnect: bool,
    /// The kinds of events. Without it, all that the run sends.
    pub(super) stream_mode: Vec<StreamMode>,
}

impl ReadQuery for StreamQuery {
    fn read(query: &mut Query) -> Self {
        Self {
            cancel_on_disconnect: query.flag("cancel_on_disconnect"),
            stream_mode: query.list("stream_mode"),
        }
    }
}

/// The options of a cancellation.
#[derive(JsonSchema)]
pub(super) struct CancelQuery {
    /// `true` to respond when the run has ended.
    pub(super) wait: bool,
    /// The treatment of the run. The default is `interrupt`.
    pub(super) action: CancelAction,
    /// The reason, which the run then shows.
    pub(super) reason: Option<String>,
}

impl ReadQuery for CancelQuery {
    fn read(query: &mut Query) -> Self {
        Self {
            wait: query.flag("wait"),
            action: query.value("action").unwrap_or(CancelAction::Interrupt),
            reason: query.text("reason").map(str::to_owned),
        }
    }
}

/// The options of a cancellation of several runs.
#[derive(JsonSchema)]
pub(super) struct CancelManyQuery {
    /// The treatment of the runs. The default is `interrupt`.
    pub(super) action: CancelAction,
}

impl ReadQuery for CancelManyQuery {
    fn read(query: &mut Query) -> Self {
        Self { action: query.value("action").unwrap_or(CancelAction::Interrupt) }
    }
}
