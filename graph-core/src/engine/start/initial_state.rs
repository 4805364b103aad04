//! The state with which a run begins, and updates that no task has made.

use std::sync::Arc;

use crate::engine::apply::{
    NOT_OWNED, Rejection, Undos, WriteSet, broken_rules, fold, fold_unchecked, own, rejection,
};
use crate::engine::task::{Failed, Finished, Keep, NotEncoded, finish};
use crate::erased::{ErasedInput, ErasedStart, ErasedState, TaskWrites};
use crate::error::{Error, ErrorKind, contained};
use crate::reducers::Stamp;
use crate::step::{ErasedStep, Leave, prepare};

/// Returns the state that an input makes, and the fields that the input sets.
pub(crate) fn initial_state(
    input: Box<dyn ErasedInput>,
) -> Result<(Arc<dyn ErasedState>, Vec<usize>), ErrorKind> {
    let ErasedStart { mut state, writes, mut given } = input.into_start();
    let of = state.state_type();
    let result = input_result(writes)?;
    given.extend(result.writes.fields());
    let mut results = vec![Some(result)];
    let Some(base) = own(&mut state) else { return Err(NOT_OWNED) };
    // An input is checked only against the rules of the fields that it sets: the invariant may need fields that no
    // node has filled yet.
    fold_unchecked(base, &mut results, &mut WriteSet::default(), &mut Undos::new(of))
        .and_then(|()| match broken_rules(base, &given) {
            broken if broken.is_empty() => Ok(()),
            broken => Err(Rejection::Rules(broken)),
        })
        .map_err(|rejected| rejection(of, &[], 0, &[], &mut results, rejected))?;
    Ok((state, given))
}

/// Returns the state with which a new run of any graph over the input's state begins.
pub(crate) fn started(input: Box<dyn ErasedInput>) -> Result<Arc<dyn ErasedState>, Error> {
    let of = input.state_type();
    initial_state(input).map(|(state, _)| state).map_err(|kind| Error::new(of.name, kind))
}

/// Returns the state with an update applied as a node's update would be; all or nothing.
pub(crate) fn updated(
    mut state: Arc<dyn ErasedState>,
    update: TaskWrites,
) -> Result<Arc<dyn ErasedState>, Error> {
    let of = state.state_type();
    let result = input_result(update).map_err(|kind| Error::new(of.name, kind))?;
    let mut results = vec![Some(result)];
    let Some(base) = own(&mut state) else { return Err(Error::new(of.name, NOT_OWNED)) };
    match fold(base, &mut results, &mut WriteSet::default(), &mut Undos::new(of)) {
        Ok(()) => Ok(state),
        Err(rejected) => {
            let kind = rejection(of, &[], 0, &[], &mut results, rejected);
            Err(Error::new(of.name, kind).with_state(state))
        }
    }
}

fn input_result(update: TaskWrites) -> Result<Finished, ErrorKind> {
    from_outside(update, Stamp::new("START", 0, 0), Keep::Nothing)
}

/// Prepares an update that no task made.
pub(crate) fn from_outside(
    mut writes: TaskWrites,
    stamp: Stamp<'_>,
    keep: Keep,
) -> Result<Finished, ErrorKind> {
    let finished = || {
        let step = prepare(&mut writes, stamp).map(|()| ErasedStep { writes, leave: Leave::ByEdges });
        finish(step, || stamp, keep)
    };
    contained(finished).map_err(Failed::Panic).and_then(|finished| finished).map_err(|failed| {
        let first = failed.into_failure(stamp.node, stamp.step, 1);
        NotEncoded::named(ErrorKind::Node { first: Box::new(first), others: Vec::new() })
    })
}
