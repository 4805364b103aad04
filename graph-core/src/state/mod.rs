//! The state of a graph and what its derive makes of it.

use std::any::Any;

use serde::ser::SerializeMap;

mod bounds;
mod change;
mod context;
mod dump;
mod field;
mod input;
mod json;
mod part;
pub mod rules;
mod show;
mod stand_in;
mod update;
pub mod validate;
mod value;
mod writes;

#[doc(hidden)]
pub use bounds::{
    Checked, FieldType, Held, Itself, OptionalInput, StartValue, Tracked, TrackedUpdate, Written,
};
#[doc(hidden)]
pub use change::{ByOverwrite, ByUpdate, IntoCustomChange};
pub use change::{Change, IntoChange, Overwrite};
#[doc(hidden)]
pub use context::from_context;
pub use dump::Dump;
pub use field::{Field, FieldSpec};
pub use input::{Input, InputError, InputProblem, Start};
use json::read_update;
#[doc(hidden)]
pub use json::{
    FieldDeserializer, JsonInput, debug_update, deserialize_input, deserialize_update, parse_change,
    parse_overwrite_with, parse_value, parse_value_with, parse_with, serialize_update,
};
pub use part::PartOf;
#[doc(hidden)]
pub use show::{debug, debug_json, debug_option, display, display_option, dump_with, shown, shown_with};
#[doc(hidden)]
pub use stand_in::StandIn;
pub use update::{FieldWrite, IntoUpdate, Parsed, Update, WriteKind};
pub use value::IntoValue;
pub use writes::Writes;

use validate::{Report, Violation};

/// What takes a write to a field of `S` back.
pub type UndoOf<S> = <<<S as GraphState>::Update as Update<S>>::Write as FieldWrite<S>>::Undo;

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

    /// A copy of the whole state.
    ///
    /// `Clone` is asked for here and not of every `S: GraphState`, so that a state without it is one error.
    #[doc(hidden)]
    fn __duplicate(&self) -> Self;

    /// Writes the dumped fields into a map that has been opened; [`dump`](Self::dump) and flattening build on it.
    #[doc(hidden)]
    fn __dump_fields<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;

    /// The state as it may leave the process: obeys `exclude`, `rename`, `serialize_with` and `untracked`.
    fn dump(&self) -> Dump<'_, Self> {
        Dump(self)
    }
}
