use crate::engine::erased::{ErasedState, ErasedUndos, StateType, TaskWrites};
use crate::reducers::ReduceError;
use crate::state::validate::{Report, Violation};

use crate::error::Panic;

use super::attempt::contained;
use super::ledger::{Clash, Ledger};
use super::task::Finished;

/// The reason why a superstep was rejected. The state is unchanged.
pub(super) enum Rejected {
    Clash(Clash),
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
pub(super) struct Undos(Box<dyn ErasedUndos>);

impl Undos {
    pub(super) fn new(state: &StateType) -> Self {
        Self((state.undos)())
    }

    pub(super) fn clear_field(&mut self, state: &mut dyn ErasedState, field: usize) {
        state.clear_field(field, &mut *self.0);
    }

    pub(super) fn roll_back(&mut self, state: &mut dyn ErasedState) {
        self.0.roll_back(state);
    }

    pub(super) fn forget(&mut self) {
        self.0.forget();
    }
}

/// Folds the writes of the tasks into `state`, in order, and checks the rules; all or nothing.
///
/// On success the undos of the writes are appended to `undos`. On an error everything in `undos` has been rolled
/// back.
pub(super) fn fold(
    state: &mut dyn ErasedState,
    results: &mut [Option<Finished>],
    ledger: &mut Ledger,
    undos: &mut Undos,
) -> Result<(), Rejected> {
    let folded = fold_unchecked(state, results, ledger, undos).and_then(|()| check(state, ledger.touched()));
    if folded.is_err() {
        undos.roll_back(state);
    }
    folded
}

/// Folds the writes without checking the rules. After an error the caller has to roll `undos` back.
pub(super) fn fold_unchecked(
    state: &mut dyn ErasedState,
    results: &mut [Option<Finished>],
    ledger: &mut Ledger,
    undos: &mut Undos,
) -> Result<(), Rejected> {
    ledger.open(state.state_type().fields);
    for (task, finished) in finished(results) {
        ledger.enter(task, &finished.writes);
    }
    match ledger.clash() {
        Some(clash) => Err(Rejected::Clash(clash)),
        None => fold_all(state, results, ledger, undos),
    }
}

fn finished(results: &[Option<Finished>]) -> impl Iterator<Item = (usize, &Finished)> {
    results.iter().enumerate().filter_map(|(task, result)| result.as_ref().map(|result| (task, result)))
}

fn fold_all(
    state: &mut dyn ErasedState,
    results: &mut [Option<Finished>],
    ledger: &Ledger,
    undos: &mut Undos,
) -> Result<(), Rejected> {
    for (task, result) in results.iter_mut().enumerate() {
        if let Some(finished) = result {
            fold_task(state, &mut finished.writes, ledger, undos)
                .map_err(|(field, error)| Rejected::Reducer { task, field, error })?;
        }
    }
    Ok(())
}

/// Folds the writes of one task that count. After an error the caller has to roll `undos` back.
pub(super) fn fold_task(
    state: &mut dyn ErasedState,
    writes: &mut TaskWrites,
    ledger: &Ledger,
    undos: &mut Undos,
) -> Result<(), (usize, ReduceError)> {
    let Some(writes) = writes.as_erased_mut() else { return Ok(()) };
    let folded = writes.fold(state, &|field, kind| ledger.counts(field, kind), &mut *undos.0);
    folded.map_err(|(field, error)| (field, error.on_field(state.state_type().field(field))))
}

/// Folds the only write of a superstep's only task into `state`, and checks the rules; all or nothing.
///
/// Returns `false` and does nothing if there are more writes.
#[inline]
pub(super) fn fold_alone(
    state: &mut dyn ErasedState,
    fallible: bool,
    writes: &mut TaskWrites,
    ledger: &mut Ledger,
    undos: &mut Undos,
) -> Result<bool, Rejected> {
    let Some(writes) = writes.as_erased_mut() else { return Ok(true) };
    let folded = writes.fold_alone(state, &mut *undos.0, ledger.open_alone());
    match folded {
        Ok(true) if fallible => {
            let checked = check(state, ledger.touched());
            match checked {
                Ok(()) => undos.forget(),
                Err(_) => undos.roll_back(state),
            }
            checked.map(|()| true)
        }
        Ok(folded) => Ok(folded),
        Err((field, error)) => {
            let error = error.on_field(state.state_type().field(field));
            Err(Rejected::Reducer { task: 0, field, error })
        }
    }
}

/// Checks the rules of the written fields, and then the invariant.
pub(super) fn check(state: &dyn ErasedState, touched: &[usize]) -> Result<(), Rejected> {
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
    if broken.is_empty() { Ok(()) } else { Err(Rejected::Rules(broken)) }
}

/// Returns the rules of these fields that do not hold.
pub(super) fn broken_rules(state: &dyn ErasedState, fields: &[usize]) -> Vec<(Option<usize>, Violation)> {
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
