use std::any::Any;
use std::sync::Arc;

use crate::payload::Encoding;
use crate::state::validate::{Report, Violation};
use crate::state::{EncodeError, FieldSpec};

use super::{ErasedUndos, StateType};

/// The state of a run. Every [`GraphState`](crate::GraphState) implements it.
pub trait ErasedState: Any + Send + Sync {
    /// Returns the type of the state.
    fn state_type(&self) -> &'static StateType;

    /// Returns a copy of the state.
    fn copied(&self) -> Arc<dyn ErasedState>;

    /// Checks the rules of one field, and adds the violations to `report`.
    fn check_field(&self, field: usize, report: &mut Report);

    /// Checks the invariants.
    fn check_state(&self) -> Result<(), Violation>;

    /// Resets an ephemeral field to its default, and keeps the value that takes the reset back.
    fn clear_field(&mut self, field: usize, undos: &mut dyn ErasedUndos);

    /// Rebuilds the fields marked `from_context`.
    ///
    /// # Errors
    /// Returns the field whose function takes a context of another type.
    fn rebuild(&mut self, context: &dyn Any) -> Result<(), &'static FieldSpec>;

    /// Appends the stored form of a field to `into`. Writes nothing for an untracked field.
    fn encode(&self, field: usize, into: &mut Vec<u8>) -> Result<Option<Encoding>, EncodeError>;

    /// Returns the state as JSON, by the dump rules.
    fn to_json(&self) -> Result<serde_json::Value, serde_json::Error>;
}
