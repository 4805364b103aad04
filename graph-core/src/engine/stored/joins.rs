use std::sync::Arc;

use crate::checkpoint::Checkpoint;
use crate::engine::graph::Compiled;
use crate::error::ErrorKind;
use crate::plan::Progress;

use super::progress::{self, target_name};

/// A join that waits at a checkpoint, for display.
pub(crate) struct BegunJoin {
    pub(crate) to: Arc<str>,
    pub(crate) arrived: Vec<Arc<str>>,
    pub(crate) missing: Vec<Arc<str>>,
    pub(crate) optional: bool,
}

/// Returns the joins that at least one of their sources has reached.
pub(crate) fn begun_joins(
    graph: &Compiled,
    thread: &Arc<str>,
    checkpoint: &Checkpoint,
) -> Result<Vec<BegunJoin>, ErrorKind> {
    let stored = progress::read(thread, checkpoint)?;
    let mut progress = Progress::new(&graph.topology);
    stored.arrive(graph, &mut progress);
    let shown = progress.begun_joins(&graph.topology).map(|(join, slots)| {
        let of = |wanted: bool| {
            let sources = join.sources.iter().zip(slots).filter(|&(_, &arrived)| arrived == wanted);
            sources.map(|(&source, _)| Arc::from(graph.node_name(source))).collect()
        };
        let to = Arc::from(target_name(graph, join.target));
        BegunJoin { to, arrived: of(true), missing: of(false), optional: join.optional }
    });
    Ok(shown.collect())
}
