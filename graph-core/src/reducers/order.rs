use std::cmp::Ordering;

use super::{ReduceError, guarded};

/// Compares `delta` with `value`; fails if they have no order.
pub(super) fn compare<T: PartialOrd>(delta: &T, value: &T) -> Result<Ordering, ReduceError> {
    guarded(|| Ok(delta.partial_cmp(value)))?.ok_or_else(|| {
        ReduceError::new("the values cannot be compared: one of them is not a number, or has no order")
    })
}
