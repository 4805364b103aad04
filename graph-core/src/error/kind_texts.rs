//! Parts of the messages of [`ErrorKind`](super::ErrorKind).

use crate::checkpoint::CheckpointId;
use crate::state::validate::Violation;

use super::{AwaitedAnswer, NodeFailure, UnfinishedSuperstep};

pub(super) fn not_planned_again(thread: &str, node: &str, pending: &[String], planned: &[String]) -> String {
    let effect = match (pending, planned) {
        ([], planned) => format!("plan {}, although no task is pending", names(planned)),
        (pending, []) => format!("give up the pending tasks {} without planning them again", names(pending)),
        (pending, planned) => {
            format!("plan {} in place of the pending tasks {}", names(planned), names(pending))
        }
    };
    format!(
        "an update of thread `{thread}` without `as_node(..)` would take the place of `{node}`, which ran last, and \
         {effect}: say `as_node(..)` for each update, or change the state and keep the pending tasks with \
         `resume(..).update(..)`"
    )
}

pub(super) fn empty_update(thread: &str, superstep: usize, count: usize) -> String {
    let cure = "`as_node(END)` finishes the thread, and `resume(..)` continues it";
    match superstep {
        0 => format!("the update of thread `{thread}` has no supersteps: give it an update; {cure}"),
        _ => format!(
            "superstep {superstep} of {count} in the update of thread `{thread}` has no updates: remove its list; {cure}"
        ),
    }
}

pub(super) fn write_conflict(field: &str, nodes: &[String], step: u64, overwrite: bool) -> String {
    let nodes = names(nodes);
    if overwrite {
        format!(
            "field `{field}` was overwritten more than once in superstep {step}, by {nodes}: let only one task of a \
             superstep write it with `Overwrite`"
        )
    } else {
        format!(
            "field `{field}` was written more than once in superstep {step}, by {nodes}: give it a reducer, or let only \
             one task of a superstep write it"
        )
    }
}

pub(super) fn not_ended(waits: &[String]) -> String {
    match waits {
        [] => "there is no output: the run was stopped, sleeps, or was finished by an update as `END`"
            .to_owned(),
        waits => format!("there is no output yet: the run waits for {}", waits.join(" and ")),
    }
}

pub(super) fn no_cache(nodes: &[String]) -> String {
    let purpose = match nodes {
        [] => String::new(),
        nodes => format!(" for the results of {}", names(nodes)),
    };
    format!("there is no cache{purpose}: add one with `graph.with_cache(..)`")
}

pub(super) fn ambiguous_node(thread: &str, candidates: &[String]) -> String {
    let reason = match candidates {
        [] => "is not stored".to_owned(),
        nodes => format!("is not unique ({})", names(nodes)),
    };
    format!(
        "the node that ran last on thread `{thread}` {reason}: name the node of the update with `as_node(..)`"
    )
}

/// "`a`", "`a` and `b`", "`a`, `b` and `c`", "`a`, `b`, `c` and 97 more".
pub(super) fn names(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let quoted: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    match (quoted.split_last(), names.len().saturating_sub(SHOWN)) {
        (None, _) => "no node".to_owned(),
        (Some(_), more @ 1..) => format!("{} and {more} more", quoted.join(", ")),
        (Some((last, [])), 0) => last.clone(),
        (Some((last, rest)), 0) => format!("{} and {last}", rest.join(", ")),
    }
}

pub(super) fn cancelled(step: Option<&u64>, unfinished: &[String]) -> String {
    match step {
        Some(step) if unfinished.is_empty() => format!("the run was cancelled in superstep {step}"),
        Some(step) => {
            format!("the run was cancelled in superstep {step} before {} finished", names(unfinished))
        }
        None => "the run was stopped before it began, so nothing of it is stored".to_owned(),
    }
}

pub(super) fn node_failed(first: &NodeFailure, others: &[NodeFailure]) -> String {
    if others.is_empty() {
        return first.to_string();
    }
    let others: Vec<String> = others.iter().map(|failure| failure.node.clone()).collect();
    format!("{first}; {} failed too", names(&others))
}

pub(super) fn pending_tasks(
    thread: &str,
    at: Option<&CheckpointId>,
    pending: &[String],
    superstep: &UnfinishedSuperstep,
) -> String {
    let UnfinishedSuperstep { finished, waiting } = superstep;
    let waits = waits(waiting);
    match at {
        None if pending.is_empty() => format!(
            "thread `{thread}` has results that are not applied yet ({}): apply them with `resume(..)`, or discard them \
             with `run(input).abandon_pending()`",
            names(finished)
        ),
        None => format!(
            "thread `{thread}` still has pending tasks ({}{waits}): continue it with `resume(..)`, or discard them with \
             `run(input).abandon_pending()`",
            names(pending)
        ),
        Some(at) => format!(
            "checkpoint {at} of thread `{thread}` has pending tasks ({}{waits}): run them on a new branch with `run_again()`, \
             or replace them with the input by `abandon_pending()`",
            names(pending)
        ),
    }
}

/// Lists which pending tasks wait for which answers.
fn waits(waiting: &[AwaitedAnswer]) -> String {
    const SHOWN: usize = 8;
    let mut text = String::new();
    for AwaitedAnswer { node, question, .. } in waiting.iter().take(SHOWN) {
        text.push_str(&format!("; `{node}` waits for the answer to `{question}`"));
    }
    match waiting.len().saturating_sub(SHOWN) {
        0 => text,
        more => format!("{text}; {more} more answers are awaited"),
    }
}

pub(super) fn not_open(thread: &str, id: &str, changed: bool) -> String {
    if changed {
        format!(
            "question `{id}` of thread `{thread}` has changed since it was read, so the answer was refused: read it again \
             with `thread.interrupts()`"
        )
    } else {
        format!(
            "question `{id}` is not open on thread `{thread}`: it was answered before, it has expired, or its task no longer \
             asks it; or the thread never had a question with this id: `thread.interrupts()` returns the open ones"
        )
    }
}

pub(super) fn no_subgraph_call(thread: &str, namespace: &str, ended: bool) -> String {
    if ended {
        format!(
            "the last call of subgraph `{namespace}` on thread `{thread}` has finished: it can be updated only if the \
             subgraph keeps its state, and after the superstep that called it"
        )
    } else {
        format!(
            "subgraph `{namespace}` has not been called on thread `{thread}`: if its calls have tasks or keys, choose one \
             with `.task(..)` or `.key(..)`"
        )
    }
}

/// The number of violations in an error's text. A rule for the items of a list may be broken by all of them.
const LISTED: usize = 64;

pub(super) fn violation_list(violations: &[Violation]) -> String {
    let mut list: String =
        violations.iter().take(LISTED).map(|violation| format!("\n  {violation}")).collect();
    if let more @ 1.. = violations.len().saturating_sub(LISTED) {
        list.push_str(&format!("\n  … and {more} more"));
    }
    list
}
