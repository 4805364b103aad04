use std::sync::Arc;

use super::LiveRun;
use crate::graphs::{AnyGraph, PreparedRun, Way};
use crate::stream::Converter;

/// A run that is ready to be executed.
pub(super) struct Job {
    pub(super) live: Arc<LiveRun>,
    pub(super) graph: Arc<dyn AnyGraph>,
    pub(super) prepared: Box<dyn PreparedRun>,
    pub(super) converter: Converter,
    /// The kinds of events that the run sends.
    pub(super) events: Vec<superstep::StreamMode>,
    /// The beginning of the run. Decided when its turn comes, if it has to wait.
    pub(super) way: Option<Way>,
    /// `true` if an earlier process may have started the run.
    pub(super) again: bool,
    /// `true` if the thread is deleted with the end of the run.
    pub(super) temporary: bool,
    /// The address that gets the result of the run.
    pub(super) webhook: Option<String>,
}
