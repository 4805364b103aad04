use std::any::Any;

use serde::ser::SerializeMap;

use crate::engine;
use crate::error::Error;
use crate::payload::Encoding;

use super::validate::{Report, Violation};
use super::{
    Dump, EncodeError, FieldSpec, Input, MigrationError, Restore, RestoreError, Stored, UndoOf, Update,
};

/// A struct that a graph runs over; implemented by `#[derive(GraphState)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a state",
    label = "`{Self}` does not derive `GraphState`",
    note = "write `#[derive(GraphState, Clone)]` on the struct"
)]
pub trait GraphState: Send + Sync + Sized + 'static {
    /// The struct's name.
    const NAME: &'static str;
    /// How many fields there are, flattened ones included.
    const FIELD_COUNT: usize;
    /// Whether applying an update can fail: a field has a rule, the state an invariant, or a reducer is fallible.
    const FALLIBLE: bool = true;

    /// The partial update: every field optional.
    type Update: Update<Self>;
    /// What a run starts with.
    type Input: Input<Self>;
    /// The fields marked `output`, or the state itself when none is.
    type Output: Send + 'static;

    /// What is known of the field at `index`; `None` past the last.
    fn field(index: usize) -> Option<&'static FieldSpec>;

    /// Checks the rules of one field, writing what is broken into `report`.
    fn validate_field(&self, index: usize, report: &mut Report);

    /// Checks the state's own invariant and those of flattened states.
    fn check_invariant(&self) -> Result<(), Violation>;

    /// Puts an ephemeral field back to its default, and says how to take that back.
    fn clear_ephemeral(&mut self, index: usize) -> Option<UndoOf<Self>>;

    /// Rebuilds the fields marked `from_context` from the graph's context.
    ///
    /// # Errors
    /// Names the field whose function asks for a context of another type.
    fn rebuild_untracked(&mut self, context: &dyn Any) -> Result<(), &'static FieldSpec>;

    /// The output view of this state.
    fn output(&self) -> Self::Output;

    /// The state that a fresh run would begin with: the input through defaults, reducers and rules. Fields marked
    /// `from_context` are as without a context.
    ///
    /// # Errors
    /// What a run would refuse the input with.
    fn started(input: Self::Input) -> Result<Self, Error> {
        engine::started(input)
    }

    /// The state with an update applied to it as a node's would be: through reducers and rules, all or nothing.
    ///
    /// It is how a node is tested without a graph: call it, and look at what its update makes of the state.
    ///
    /// # Errors
    /// [`Validation`](crate::ErrorKind::Validation) or [`Reducer`](crate::ErrorKind::Reducer), with the state as it was.
    fn updated(self, update: Self::Update) -> Result<Self, Error> {
        engine::updated(self, update)
    }

    /// A copy of the whole state.
    ///
    /// `Clone` is asked for here and not of every `S: GraphState`, so that a state without it is one error.
    #[doc(hidden)]
    fn __duplicate(&self) -> Self;

    /// Writes the dumped fields into a map that has been opened; [`dump`](Self::dump) and flattening build on it.
    #[doc(hidden)]
    fn __dump_fields<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;

    /// Writes the value of the field at `index` behind what is in `into`, as a store keeps it. Nothing, for an untracked
    /// field.
    #[doc(hidden)]
    fn __encode_field(&self, index: usize, into: &mut Vec<u8>) -> Result<Option<Encoding>, EncodeError>;

    /// Builds a state of what a store has kept. Untracked fields are as at the start of a run without a context.
    #[doc(hidden)]
    fn __restore(stored: &mut Restore) -> Result<Self, RestoreError>;

    /// The names and versions of this state and of flattened ones, where a version is given.
    #[doc(hidden)]
    fn __versions(into: &mut Vec<(&'static str, u32)>);

    /// Brings what is stored to the present version.
    ///
    /// A checkpoint that follows has to hold every field whole: it says that it is of the present version, and what is
    /// stored before it is not.
    #[doc(hidden)]
    fn __migrate(from: &[(String, u32)], stored: &mut Stored) -> Result<(), MigrationError>;

    /// The state as it may leave the process: obeys `exclude`, `rename`, `serialize_with` and `untracked`.
    fn dump(&self) -> Dump<'_, Self> {
        Dump(self)
    }
}
