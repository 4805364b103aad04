use std::any::TypeId;
use std::sync::Arc;

use crate::payload::Payload;
use crate::state::{Decoded, FieldSpec, Form, MigrationError, Restore, RestoreError, Stored};

use super::{ErasedState, ErasedUndos, ErasedWrites};

/// The constants and functions of a type of state.
pub struct StateType {
    pub(crate) id: TypeId,
    /// The struct's name.
    pub(crate) name: &'static str,
    /// The number of fields.
    pub(crate) fields: usize,
    /// `true` if applying an update can fail.
    pub(crate) fallible: bool,
    pub(crate) field: fn(usize) -> Option<&'static FieldSpec>,
    pub(crate) versions: fn(&mut Vec<(&'static str, u32)>),
    pub(crate) migrate: Migrate,
    pub(crate) restore: fn(&mut Restore) -> Result<Arc<dyn ErasedState>, RestoreError>,
    /// Creates an update without writes.
    pub(crate) writes: fn() -> Box<dyn ErasedWrites>,
    pub(crate) undos: fn() -> Box<dyn ErasedUndos>,
    /// Reads a stored write and appends it to an update. Returns the written field.
    pub(crate) decode: fn(&str, Form, &Payload, &mut dyn ErasedWrites) -> Decoded<usize>,
}

/// Migrates stored fields from these versions to the current ones.
type Migrate = fn(&[(String, u32)], &mut Stored) -> Result<(), MigrationError>;

/// A state with a [`StateType`].
pub(crate) trait StateTypeOf: ErasedState {
    const TYPE: &'static StateType;
}

impl StateType {
    /// Returns the attributes of a field.
    #[inline]
    pub(crate) fn field(&self, index: usize) -> Option<&'static FieldSpec> {
        (self.field)(index)
    }

    /// Returns the name of a field.
    pub(crate) fn field_name(&self, index: usize) -> &'static str {
        self.field(index).map_or("?", |spec| spec.name)
    }

    /// Finds a field by its name.
    pub(crate) fn field_named(&self, name: &str) -> Option<usize> {
        (0..self.fields).find(|&field| self.field(field).is_some_and(|spec| spec.name == name))
    }

    /// Returns the versions of the state and of its flattened states that are not 0.
    pub(crate) fn versions(&self) -> Vec<(String, u32)> {
        let mut versions = Vec::new();
        (self.versions)(&mut versions);
        versions.into_iter().map(|(state, version)| (state.to_owned(), version)).collect()
    }
}

impl std::fmt::Debug for StateType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StateType").field("name", &self.name).finish_non_exhaustive()
    }
}
