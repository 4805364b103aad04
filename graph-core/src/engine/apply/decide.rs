use crate::engine::at::At;
use crate::engine::context::ErasedContext;
use crate::engine::graph::{Compiled, Decider, ErasedSource};
use crate::engine::task::{Failed, Finished};
use crate::erased::ErasedState;
use crate::error::{ErrorKind, NodeError, NodeFailure, Panic, contained};
use crate::plan::{START_PLACE, Task};
use crate::step::Leave;

use super::apply::{Undos, broken_rules, fold_task};
use super::write_set::WriteSet;

/// Returns the route function after a node, or after START.
#[inline]
pub(crate) fn decider(graph: &Compiled, node: usize) -> Option<&Decider> {
    match node {
        START_PLACE => graph.start.as_ref(),
        node => graph.nodes.get(node)?.decide.as_ref(),
    }
}

/// Calls one route function.
pub(crate) fn call_route(decide: &Decider, from: ErasedSource<'_>) -> Result<Leave, Failed> {
    let asked: Result<Result<Leave, NodeError>, Panic> = contained(|| decide(from));
    asked.map_err(Failed::Panic)?.map_err(Failed::Error)
}

/// Calls the route functions of several tasks. Each sees the state with the task's own update on top, and no update
/// of a sibling.
///
/// Each update is written into the state and undone, so only the written fields are copied. The result of a task
/// whose route function failed is removed.
pub(crate) fn call_routes(
    graph: &Compiled,
    state: &mut dyn ErasedState,
    ctx: &dyn ErasedContext,
    tasks: &[Task],
    attempts: &[u32],
    results: &mut [Option<Finished>],
    write_set: &mut WriteSet,
) -> Result<(), Unrouted> {
    if tasks.iter().all(|task| decider(graph, task.node).is_none()) {
        return Ok(());
    }
    let (mut failures, mut broken, mut undos) = (Vec::new(), Vec::new(), Undos::new(graph.state));
    let step = ctx.at.step;
    for (index, (task, result)) in tasks.iter().zip(results.iter_mut()).enumerate() {
        let (Some(decide), Some(finished)) = (decider(graph, task.node), result.as_mut()) else { continue };
        if !matches!(finished.leave, Leave::ByEdges) {
            // Decided in an earlier try to apply the superstep.
            continue;
        }
        write_set.open(graph.state.fields);
        write_set.enter(index, &finished.writes);
        let overlay = fold_task(state, &mut finished.writes.clone(), write_set, &mut undos)
            .map_err(|(_, error)| Failed::Error(error.into()));
        let attempt = attempts.get(index).copied().unwrap_or(1);
        let ctx = ctx.at(At { node: task.node, task: index, attempt, ..ctx.at.get() });
        let source = ErasedSource { state, packet: task.packet.as_ref(), ctx: &*ctx };
        match overlay.and_then(|()| call_route(decide, source)) {
            Ok(leave) => finished.leave = leave,
            Err(failed) => {
                // A route function may fail because its node broke a rule. The broken rule is the error to report
                // then.
                broken.extend(
                    broken_rules(state, write_set.touched()).into_iter().map(|(_, violation)| violation),
                );
                let name = graph.node_name(task.node);
                failures.push(failed.into_failure(name, step, attempt).of(index, task.packet.as_ref()));
                *result = None;
            }
        }
        undos.roll_back(state);
    }
    match (failures.is_empty(), broken.is_empty()) {
        (true, _) => Ok(()),
        (false, true) => Err(Unrouted::Failed(failures)),
        (false, false) => {
            let nodes = failures.into_iter().map(|failure| failure.node).collect();
            Err(Unrouted::Rules(ErrorKind::Validation { nodes, step, violations: broken }))
        }
    }
}

/// The reason why the next nodes of some tasks are unknown.
pub(crate) enum Unrouted {
    /// Route functions failed.
    Failed(Vec<NodeFailure>),
    /// Route functions failed on updates that break rules.
    Rules(ErrorKind),
}
