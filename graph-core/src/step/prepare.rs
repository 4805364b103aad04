use crate::erased::{StateType, TaskWrites};
use crate::error::NodeError;
use crate::reducers::{ReduceError, Stamp};

/// The first phase of a reducer refused an update.
#[derive(Debug, thiserror::Error)]
#[error("the reducer of field `{field}` refused the update")]
struct NotPrepared {
    field: &'static str,
    source: ReduceError,
}

/// Runs the reducers' first phase on an update.
pub(crate) fn prepare(writes: &mut TaskWrites, stamp: Stamp<'_>) -> Result<(), NodeError> {
    let Some(writes) = writes.as_erased_mut() else { return Ok(()) };
    let state = writes.state_type();
    writes.prepare(stamp).map_err(|refused| not_prepared(state, refused))
}

/// Returns the error of an update that a reducer refused in its first phase.
#[cold]
pub(crate) fn not_prepared(state: &StateType, (field, source): (usize, ReduceError)) -> NodeError {
    NotPrepared { field: state.field_name(field), source: source.on_field(state.field(field)) }.into()
}
