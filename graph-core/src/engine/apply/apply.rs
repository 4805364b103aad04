use crate::engine::task::Finished;
use crate::erased::{ErasedState, ErasedUndos, StateType, TaskWrites};
use crate::error::{Panic, contained};
use crate::reducers::ReduceError;
use crate::state::validate::{Report, Violation};

use super::write_set::{WriteConflict, WriteSet};

/// The reason why a superstep was rejected. The state is unchanged.
pub(crate) enum Rejection {
    WriteConflict(WriteConflict),
    /// A reducer refused a write of the task with index `task`.
    Reducer {
        task: usize,
        field: usize,
        error: ReduceError,
    },
    /// The merged state breaks rules. Each is listed with its field, or `None` for the invariant.
    Rules(Vec<(Option<usize>, Violation)>),
}

/// The undo log of a superstep: reverts everything that was written so far.
pub(crate) struct Undos(Box<dyn ErasedUndos>);

impl Undos {
    pub(crate) fn new(state: &StateType) -> Self {
        Self((state.undos)())
    }

    pub(crate) fn clear_field(&mut self, state: &mut dyn ErasedState, field: usize) {
        state.clear_field(field, &mut *self.0);
    }

    pub(crate) fn roll_back(&mut self, state: &mut dyn ErasedState) {
        self.0.roll_back(state);
    }

    pub(crate) fn forget(&mut self) {
        self.0.forget();
    }
}

/// Folds the writes of the tasks into `state`, in order, and checks the rules; all or nothing.
///
/// On success the undos of the writes are appended to `undos`. On an error everything in `undos` has been rolled
/// back.
pub(crate) fn fold(
    state: &mut dyn ErasedState,
    results: &mut [Option<Finished>],
    write_set: &mut WriteSet,
    undos: &mut Undos,
) -> Result<(), Rejection> {
    let folded =
        fold_unchecked(state, results, write_set, undos).and_then(|()| check(state, write_set.touched()));
    if folded.is_err() {
        undos.roll_back(state);
    }
    folded
}

/// Folds the writes without checking the rules. After an error the caller has to roll `undos` back.
pub(crate) fn fold_unchecked(
    state: &mut dyn ErasedState,
    results: &mut [Option<Finished>],
    write_set: &mut WriteSet,
    undos: &mut Undos,
) -> Result<(), Rejection> {
    write_set.open(state.state_type().fields);
    for (task, finished) in finished(results) {
        write_set.enter(task, &finished.writes);
    }
    match write_set.conflict() {
        Some(conflict) => Err(Rejection::WriteConflict(conflict)),
        None => fold_all(state, results, write_set, undos),
    }
}

fn finished(results: &[Option<Finished>]) -> impl Iterator<Item = (usize, &Finished)> {
    results.iter().enumerate().filter_map(|(task, result)| result.as_ref().map(|result| (task, result)))
}

fn fold_all(
    state: &mut dyn ErasedState,
    results: &mut [Option<Finished>],
    write_set: &WriteSet,
    undos: &mut Undos,
) -> Result<(), Rejection> {
    for (task, result) in results.iter_mut().enumerate() {
        if let Some(finished) = result {
            fold_task(state, &mut finished.writes, write_set, undos)
                .map_err(|(field, error)| Rejection::Reducer { task, field, error })?;
        }
    }
    Ok(())
}

/// Folds the writes of one task that count. After an error the caller has to roll `undos` back.
pub(crate) fn fold_task(
    state: &mut dyn ErasedState,
    writes: &mut TaskWrites,
    write_set: &WriteSet,
    undos: &mut Undos,
) -> Result<(), (usize, ReduceError)> {
    let Some(writes) = writes.as_erased_mut() else { return Ok(()) };
    let folded = writes.fold(state, &|field, kind| write_set.counts(field, kind), &mut *undos.0);
    folded.map_err(|(field, error)| (field, error.on_field(state.state_type().field(field))))
}

/// Folds the only write of a superstep's only task into `state`, and checks the rules; all or nothing.
///
/// Returns `false` and does nothing if there are more writes.
#[inline]
pub(crate) fn fold_alone(
    state: &mut dyn ErasedState,
    fallible: bool,
    writes: &mut TaskWrites,
    write_set: &mut WriteSet,
    undos: &mut Undos,
) -> Result<bool, Rejection> {
    let Some(writes) = writes.as_erased_mut() else { return Ok(true) };
    let folded = writes.fold_alone(state, &mut *undos.0, write_set.open_alone());
    match folded {
        Ok(true) if fallible => {
            let checked = check(state, write_set.touched());
            match checked {
                Ok(()) => undos.forget(),
                Err(_) => undos.roll_back(state),
            }
            checked.map(|()| true)
        }
        Ok(folded) => Ok(folded),
        Err((field, error)) => {
            let error = error.on_field(state.state_type().field(field));
            Err(Rejection::Reducer { task: 0, field, error })
        }
    }
}

/// Checks the rules of the written fields, and then the invariant.
pub(crate) fn check(state: &dyn ErasedState, touched: &[usize]) -> Result<(), Rejection> {
    if !state.state_type().fallible || touched.is_empty() {
        return Ok(());
    }
    let mut broken = broken_rules(state, touched);
    // An invariant may rely on the rules of the fields, so it is checked only if they hold.
    if broken.is_empty()
        && let Err(violation) = contained(|| state.check_state()).unwrap_or_else(|panic| Err(panicked(panic)))
    {
        broken.push((None, violation));
    }
    if broken.is_empty() { Ok(()) } else { Err(Rejection::Rules(broken)) }
}

/// Returns the rules of these fields that do not hold.
pub(crate) fn broken_rules(state: &dyn ErasedState, fields: &[usize]) -> Vec<(Option<usize>, Violation)> {
    let mut broken = Vec::new();
    for &field in fields {
        let mut report = Report::default();
        match contained(|| state.check_field(field, &mut report)) {
            Ok(()) if report.is_empty() => {}
            Ok(()) => broken.extend(report.into_violations().into_iter().map(|(field, v)| (Some(field), v))),
            Err(panic) => {
                let spec = state.state_type().field(field);
                let mut violation = Violation { field: spec.map(|spec| spec.name), ..panicked(panic) };
                if spec.is_some_and(|spec| spec.excluded) {
                    // The panic message may quote the value.
                    violation.message = "it panicked".to_owned();
                }
                broken.push((Some(field), violation));
            }
        }
    }
    broken
}

fn panicked(panic: Panic) -> Violation {
    Violation { field: None, rule: "(a function)", value: None, message: format!("it panicked: {panic}") }
}
