use crate::error::{ErrorKind, NodeFailure, Panic};
use crate::graph::Compiled;
use crate::node::{Decider, Leave, NodeError, Source};
use crate::plan::{START_PLACE, Task};
use crate::state::{FieldWrite as _, GraphState};

use super::apply::{Undos, broken_rules};
use super::attempt::contained;
use super::cx::{At, ContextWith};
use super::ledger::Ledger;
use super::task::{Failed, Finished};

/// Returns the route function after a node, or after START.
pub(super) fn decider<S, D>(graph: &Compiled<S, D>, node: usize) -> Option<&Decider<S, D>> {
    match node {
        START_PLACE => graph.start.as_ref(),
        node => graph.nodes.get(node)?.decide.as_ref(),
    }
}

/// Calls one route function.
pub(super) fn ask<S: GraphState, D>(decide: &Decider<S, D>, from: Source<'_, S, D>) -> Result<Leave, Failed> {
    let asked: Result<Result<Leave, NodeError>, Panic> = contained(|| decide(from));
    asked.map_err(Failed::Panic)?.map_err(Failed::Error)
}

/// Calls the route functions of several tasks. Each sees the state with the task's own update on top, and no update
/// of a sibling.
///
/// Each update is written into the state and undone, so only the written fields are copied. The result of a task
/// whose route function failed is removed.
pub(super) fn ask_all<S: GraphState, D>(
    graph: &Compiled<S, D>,
    state: &mut S,
    ctx: &ContextWith<D>,
    tasks: &[Task],
    attempts: &[u32],
    results: &mut [Option<Finished<S>>],
    ledger: &mut Ledger,
) -> Result<(), Unrouted> {
    let (mut failures, mut broken, mut undos) = (Vec::new(), Vec::new(), Undos::new());
    let step = ctx.at.step;
    for (index, (task, result)) in tasks.iter().zip(results.iter_mut()).enumerate() {
        let (Some(decide), Some(finished)) = (decider(graph, task.node), result.as_mut()) else { continue };
        if !matches!(finished.leave, Leave::ByEdges) {
            // Decided in an earlier try to apply the superstep.
            continue;
        }
        ledger.open(S::FIELD_COUNT);
        finished.writes.iter().for_each(|write| ledger.enter(index, write));
        let mut overlay = Ok(());
        for write in finished.writes.iter().filter(|write| ledger.counts(*write)) {
            match write.clone().apply(state) {
                Ok(undo) => undos.push(undo),
                Err(error) => overlay = Err(Failed::Error(error.into())),
            }
        }
        let attempt = attempts.get(index).copied().unwrap_or(1);
        let ctx = ctx.at(At { node: task.node, task: index, attempt, ..ctx.at });
        let source = Source { state: &*state, packet: task.packet.as_ref(), ctx: &ctx };
        match overlay.and_then(|()| ask(decide, source)) {
            Ok(leave) => finished.leave = leave,
            Err(failed) => {
                // A route function may fail because its node broke a rule. The broken rule is the error to report
                // then.
                broken.extend(
                    broken_rules(state, ledger.touched()).into_iter().map(|(_, violation)| violation),
                );
                let name = graph.node_name(task.node);
                failures.push(failed.into_failure(name, step, attempt).of(index, task));
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
pub(super) enum Unrouted {
    /// Route functions failed.
    Failed(Vec<NodeFailure>),
    /// Route functions failed on updates that break rules.
    Rules(ErrorKind),
}
