use std::any::Any;
use std::sync::Arc;

use serde::ser::SerializeMap;

use crate::engine;
use crate::erased::{InputOf, WritesOf, owned};
use crate::error::Error;
use crate::payload::Encoding;

use super::validate::{Report, Violation};
use super::{
    Dump, EncodeError, FieldSpec, Input, IntoUpdate, MigrationError, Restore, RestoreError, Shared,
    StateCheck, Stored, UndoOf, Update,
};

/// The state of a graph; implemented by `#[derive(GraphState)]`.
///
/// Every state is `Send + Sync + 'static`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a state",
    label = "`{Self}` does not derive `GraphState`",
    note = "write `#[derive(GraphState, Clone)]` on the struct"
)]
pub trait GraphState: Shared + Sized {
    /// The struct's name.
    const NAME: &'static str;
    /// The number of fields, including those of flattened states.
    const FIELD_COUNT: usize;
    /// `true` if applying an update can fail: a field has a rule, the state has an invariant, or a reducer is fallible.
    const FALLIBLE: bool = true;

    /// The partial update, in which every field is optional.
    type Update: Update<Self> + IntoUpdate<Self>;
    /// The input of a run.
    type Input: Input<Self>;
    /// The fields marked `output`, or the state itself if no field is marked.
    type Output: Send + 'static;

    /// Returns the attributes of the field at `index`; `None` if there is no such field.
    fn field(index: usize) -> Option<&'static FieldSpec>;

    /// Checks the rules of one field, and adds the violations to `report`.
    fn validate_field(&self, index: usize, report: &mut Report);

    /// Checks the state's own invariant and those of flattened states.
    fn check_invariant(&self) -> Result<(), Violation>;

    /// Resets an ephemeral field to its default, and returns the value that takes the reset back.
    fn clear_ephemeral(&mut self, index: usize) -> Option<UndoOf<Self>>;

    /// Rebuilds the fields marked `from_context` from the graph's context.
    ///
    /// # Errors
    /// Returns the field whose function takes a context of another type.
    fn rebuild_untracked(&mut self, context: &dyn Any) -> Result<(), &'static FieldSpec>;

    /// Returns the output of this state.
    fn output(&self) -> Self::Output;

    /// Returns the state in which a fresh run with this input would start, after defaults, reducers and rules. Fields
    /// marked `from_context` have the value that they have without a context.
    ///
    /// # Errors
    /// The error with which a run would refuse the input.
    fn started(input: Self::Input) -> Result<Self, Error> {
        engine::started(Box::new(InputOf::<Self>(input)))
            .and_then(|state| owned(state).map_err(|error| Error::new(Self::NAME, error.into())))
    }

    /// Returns the state after an update, which goes through reducers and rules as the update of a node does.
    ///
    /// Use it to test a node without a graph: call the node, and apply its update.
    ///
    /// # Errors
    /// [`Validation`](crate::ErrorKind::Validation) or [`Reducer`](crate::ErrorKind::Reducer), with the unchanged state.
    fn updated(self, update: impl IntoUpdate<Self>) -> Result<Self, Error> {
        engine::updated(Arc::new(self), WritesOf::<Self>::erase(update.into_update()))
            .and_then(|state| owned(state).map_err(|error| Error::new(Self::NAME, error.into())))
    }

    /// Returns a copy of the whole state.
    ///
    /// `Clone` is required here and not by the trait, so that a state without it is one error.
    #[doc(hidden)]
    fn __duplicate(&self) -> Self;

    /// Writes the dumped fields into an open map; [`dump`](Self::dump) and flattening build on it.
    #[doc(hidden)]
    fn __dump_fields<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;

    /// Appends the stored form of the field at `index` to `into`. Writes nothing for an untracked field.
    #[doc(hidden)]
    fn __encode_field(&self, index: usize, into: &mut Vec<u8>) -> Result<Option<Encoding>, EncodeError>;

    /// Builds a state from its stored fields. Untracked fields have the value of a run that starts without a context.
    #[doc(hidden)]
    fn __restore(stored: &mut Restore) -> Result<Self, RestoreError>;

    /// Collects the mistakes that `compile()` reports.
    #[doc(hidden)]
    fn __check(into: &mut StateCheck) {
        let _ = into;
    }

    /// Collects the names and versions of this state and of flattened states that have a version.
    #[doc(hidden)]
    fn __versions(into: &mut Vec<(&'static str, u32)>);

    /// Migrates stored fields to the current version.
    ///
    /// A checkpoint that follows must store every field as a whole value: it declares the current version, and the deltas
    /// stored before it have an older one.
    #[doc(hidden)]
    fn __migrate(from: &[(String, u32)], stored: &mut Stored) -> Result<(), MigrationError>;

    /// Returns the state as it may leave the process: by `exclude`, `rename`, `serialize_with` and `untracked`.
    fn dump(&self) -> Dump<'_, Self> {
        Dump(self)
    }
}
