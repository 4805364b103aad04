use std::sync::Arc;

use crate::error::ErrorKind;
use crate::plan::{END_PLACE, Task};
use crate::state::{FieldWrite as _, GraphState};

use super::apply::Rejected;
use super::task::Finished;

/// What a rejected superstep means: the error, and which results have to go so that resuming runs those tasks again.
///
/// A clash revokes nothing: both results are good, and applying them again works once the field has a reducer. A value
/// that breaks a rule, or that a reducer refuses, is revoked with everybody who wrote that field.
pub(super) fn reject<S: GraphState>(
    names: &[Arc<str>],
    step: u64,
    tasks: &[Task],
    results: &mut [Option<Finished<S>>],
    rejected: Rejected,
) -> ErrorKind {
    let name = |task: usize| {
        let place = tasks.get(task).map(|task| task.node);
        if place == Some(END_PLACE) {
            return "END".to_owned();
        }
        place.and_then(|node| names.get(node)).map_or("START", |name| name).to_owned()
    };
    let field_name = |field: usize| S::field(field).map_or("?", |field| field.name);
    match rejected {
        Rejected::Clash(clash) => ErrorKind::WriteConflict {
            field: field_name(clash.field),
            nodes: writers(results, Some(clash.field)).into_iter().map(name).collect(),
            step,
            overwrite: clash.overwrite,
        },
        Rejected::Reducer { task, field, error } => {
            revoke(results, &writers(results, Some(field)));
            ErrorKind::Reducer { field: field_name(field), node: name(task), step, source: error }
        }
        Rejected::Rules(broken) => {
            let mut concerned: Vec<usize> =
                broken.iter().flat_map(|(field, _)| writers(results, *field)).collect();
            concerned.sort_unstable();
            concerned.dedup();
            revoke(results, &concerned);
            let nodes = concerned.into_iter().map(name).collect();
            let violations = broken.into_iter().map(|(_, violation)| violation).collect();
            ErrorKind::Validation { nodes, step, violations }
        }
    }
}

/// The tasks that wrote a field, or anything at all.
fn writers<S: GraphState>(results: &[Option<Finished<S>>], field: Option<usize>) -> Vec<usize> {
    if results.len() == 1 {
        // Folding has used up the writes of a task that is alone, and nobody else can have written.
        return vec![0];
    }
    let wrote = |finished: &Finished<S>| match field {
        Some(field) => finished.writes.iter().any(|write| write.field() == field),
        None => !finished.writes.is_empty(),
    };
    let tasks = results.iter().enumerate();
    tasks.filter(|(_, result)| result.as_ref().is_some_and(wrote)).map(|(task, _)| task).collect()
}

fn revoke<S: GraphState>(results: &mut [Option<Finished<S>>], tasks: &[usize]) {
    for &task in tasks {
        if let Some(result) = results.get_mut(task) {
            *result = None;
        }
    }
}
