use crate::graphs::StateView;
use crate::protocol::ThreadStatus;

/// Returns the status of a thread without runs, from its state.
pub(crate) fn of_state(state: Option<&StateView>) -> ThreadStatus {
    match state {
        Some(state) if !state.finished => ThreadStatus::Interrupted,
        _ => ThreadStatus::Idle,
    }
}
