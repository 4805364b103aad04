use crate::reducers::ReduceError;
use crate::state::validate::{Report, Violation};
use crate::state::{FieldWrite, GraphState, UndoOf};

use crate::error::Panic;

use super::attempt::contained;
use super::ledger::{Clash, Ledger};
use super::task::{Finished, WriteOf};

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
pub(super) struct Undos<S: GraphState>(Vec<UndoOf<S>>);

impl<S: GraphState> Undos<S> {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    pub(super) fn push(&mut self, undo: UndoOf<S>) {
        self.0.push(undo);
    }

    pub(super) fn roll_back(&mut self, state: &mut S) {
        while let Some(undo) = self.0.pop() {
            WriteOf::<S>::undo(undo, state);
        }
    }

    pub(super) fn forget(&mut self) {
        self.0.clear();
    }
}

/// Folds the writes of the tasks into `state`, in order, and checks the rules; all or nothing.
///
/// On success the undos of the writes are appended to `undos`. On an error everything in `undos` has been rolled
/// back.
pub(super) fn fold<S: GraphState>(
    state: &mut S,
    results: &mut [Option<Finished<S>>],
    ledger: &mut Ledger,
    undos: &mut Undos<S>,
) -> Result<(), Rejected> {
    let folded = fold_unchecked(state, results, ledger, undos).and_then(|()| check(state, ledger.touched()));
    if folded.is_err() {
        undos.roll_back(state);
    }
    folded
}

/// Folds the writes without checking the rules. After an error the caller has to roll `undos` back.
pub(super) fn fold_unchecked<S: GraphState>(
    state: &mut S,
    results: &mut [Option<Finished<S>>],
    ledger: &mut Ledger,
    undos: &mut Undos<S>,
) -> Result<(), Rejected> {
    ledger.open(S::FIELD_COUNT);
    for (task, finished) in finished(results) {
        finished.writes.iter().for_each(|write| ledger.enter(task, write));
    }
    match ledger.clash() {
        Some(clash) => Err(Rejected::Clash(clash)),
        None => fold_all(state, results, ledger, undos),
    }
}

fn finished<S: GraphState>(results: &[Option<Finished<S>>]) -> impl Iterator<Item = (usize, &Finished<S>)> {
    results.iter().enumerate().filter_map(|(task, result)| result.as_ref().map(|result| (task, result)))
}

fn fold_all<S: GraphState>(
    state: &mut S,
    results: &mut [Option<Finished<S>>],
    ledger: &Ledger,
    undos: &mut Undos<S>,
) -> Result<(), Rejected> {
    for (task, result) in results.iter_mut().enumerate() {
        let Some(finished) = result else { continue };
        for write in std::mem::take(&mut finished.writes) {
            if !ledger.counts(&write) {
                continue;
            }
            let field = write.field();
            match write.apply(state) {
                Ok(undo) => undos.push(undo),
                Err(error) => {
                    let error = error.on_field::<S>(field);
                    return Err(Rejected::Reducer { task, field, error });
                }
            }
        }
    }
    Ok(())
}

/// Checks the rules of the written fields, and then the invariant.
pub(super) fn check<S: GraphState>(state: &S, touched: &[usize]) -> Result<(), Rejected> {
    if !S::FALLIBLE || touched.is_empty() {
        return Ok(());
    }
    let mut broken = broken_rules(state, touched);
    // An invariant may rely on the rules of the fields, so it is checked only if they hold.
    if broken.is_empty()
        && let Err(violation) =
            contained(|| state.check_invariant()).unwrap_or_else(|panic| Err(panicked(panic)))
    {
        broken.push((None, violation));
    }
    if broken.is_empty() { Ok(()) } else { Err(Rejected::Rules(broken)) }
}

/// Returns the rules of these fields that do not hold.
pub(super) fn broken_rules<S: GraphState>(state: &S, fields: &[usize]) -> Vec<(Option<usize>, Violation)> {
    let mut broken = Vec::new();
    for &field in fields {
        let mut report = Report::default();
        match contained(|| state.validate_field(field, &mut report)) {
            Ok(()) if report.is_empty() => {}
            Ok(()) => broken.extend(report.into_violations().into_iter().map(|(field, v)| (Some(field), v))),
            Err(panic) => {
                let spec = S::field(field);
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
