use std::any::TypeId;

use super::identity::own_name;

/// A state that a node reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadState {
    pub(crate) id: TypeId,
    /// The struct's name.
    pub(crate) name: &'static str,
}

impl ReadState {
    pub(crate) fn of<T: 'static>() -> Self {
        Self { id: TypeId::of::<T>(), name: own_name::<T>() }
    }
}
