use std::sync::Arc;

use crate::engine::task::Finished;
use crate::erased::StateType;
use crate::error::ErrorKind;
use crate::plan::{END_PLACE, Task};

use super::apply::Rejection;

/// Returns the error of a rejected superstep, and removes the results of the tasks that have to run again.
///
/// A write conflict removes no result: both are good, and applying them again works once the field has a reducer. If
/// a value breaks a rule, or a reducer refuses it, the results of all tasks that wrote the field are removed.
pub(crate) fn rejection(
    state: &'static StateType,
    names: &[Arc<str>],
    step: u64,
    tasks: &[Task],
    results: &mut [Option<Finished>],
    rejected: Rejection,
) -> ErrorKind {
    let name = |task: usize| {
        let place = tasks.get(task).map(|task| task.node);
        if place == Some(END_PLACE) {
            return "END".to_owned();
        }
        place.and_then(|node| names.get(node)).map_or("START", |name| name).to_owned()
    };
    let field_name = |field: usize| state.field_name(field);
    match rejected {
        Rejection::WriteConflict(conflict) => ErrorKind::WriteConflict {
            field: field_name(conflict.field),
            nodes: writers(results, Some(conflict.field)).into_iter().map(name).collect(),
            step,
            overwrite: conflict.overwrite,
        },
        Rejection::Reducer { task, field, error } => {
            revoke(results, &writers(results, Some(field)));
            ErrorKind::Reducer { field: field_name(field), node: name(task), step, source: error }
        }
        Rejection::Rules(broken) => {
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

/// Returns the tasks that wrote the field, or all tasks that wrote anything for `None`.
fn writers(results: &[Option<Finished>], field: Option<usize>) -> Vec<usize> {
    if results.len() == 1 {
        // Folding has consumed the writes of a single task, which must be the writer.
        return vec![0];
    }
    let wrote = |finished: &Finished| match field {
        Some(field) => finished.writes.has(field),
        None => !finished.writes.is_empty(),
    };
    let tasks = results.iter().enumerate();
    tasks.filter(|(_, result)| result.as_ref().is_some_and(wrote)).map(|(task, _)| task).collect()
}

fn revoke(results: &mut [Option<Finished>], tasks: &[usize]) {
    for &task in tasks {
        if let Some(result) = results.get_mut(task) {
            *result = None;
        }
    }
}
