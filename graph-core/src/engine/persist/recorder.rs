use std::sync::Arc;

use crate::checkpoint::{BatchWrite, CheckpointId, RecordKey};
use crate::engine::graph::Compiled;
use crate::engine::journal::JournalHandle;
use crate::engine::stored::finished_records;
use crate::engine::task::Finished;
use crate::plan::Task;

/// Stores the results of a superstep's tasks as the tasks finish.
pub(crate) struct Recorder<'p> {
    pub(crate) shared: Arc<JournalHandle>,
    pub(crate) at: Option<CheckpointId>,
    pub(crate) recorded: &'p mut Vec<Vec<RecordKey>>,
}

impl Recorder<'_> {
    /// Stores a result. A result that cannot be stored is skipped, and reported at the end of the superstep.
    pub(crate) fn record(&mut self, graph: &Compiled, index: usize, task: &Task, finished: &Finished) {
        let Some(checkpoint) = self.at else { return };
        let Ok(put) = finished_records(graph, index, task, finished) else { return };
        if let Some(recorded) = self.recorded.get_mut(index) {
            *recorded = put.iter().map(|record| record.key.clone()).collect();
        }
        self.shared.push(BatchWrite::records(checkpoint, Vec::new(), put));
    }
}
