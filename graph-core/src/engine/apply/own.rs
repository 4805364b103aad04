use std::sync::Arc;

use crate::erased::ErasedState;
use crate::error::ErrorKind;

/// Returns the state for writing. It is copied first if a listener still holds it.
///
/// Like `Arc::make_mut`, but copies with the state's own method. Never returns `None` in practice.
#[inline]
pub(crate) fn own(state: &mut Arc<dyn ErasedState>) -> Option<&mut dyn ErasedState> {
    // No new owner can appear in between: the driver is borrowed mutably, and without a handle, strong or weak, no
    // listener can clone one.
    if Arc::strong_count(state) > 1 || Arc::weak_count(state) > 0 {
        *state = state.copied();
    }
    Arc::get_mut(state)
}

pub(crate) const NOT_OWNED: ErrorKind = ErrorKind::Runtime(
    "internal error: the state is shared where a superstep is applied; please report this",
);
