//! The state of a graph, and the types that its derive generates and uses.

mod bounds;
pub(crate) mod change;
mod check;
mod context;
mod dump;
mod fallback;
pub(crate) mod field;
pub(crate) mod graph_state;
mod input;
mod json;
mod part;
pub mod rules;
mod sealed;
mod setter;
mod show;
pub(crate) mod stored;
mod update;
pub mod validate;
mod value;
mod writes;
mod written_fields;

#[doc(hidden)]
pub use bounds::{
    AlwaysShared, AnyState, Checked, FieldType, Held, Itself, OptionalInput, Shared, StartValue, Tracked,
    TrackedUpdate, UntrackedStart, Written,
};
pub use bounds::{FieldValue, StoredValue};
use change::Overwrite;
#[doc(hidden)]
pub use change::{Change, IntoChange};
#[doc(hidden)]
pub use check::StateCheck;
#[doc(hidden)]
pub use context::from_context;
pub use dump::Dump;
#[doc(hidden)]
pub use fallback::FallbackWrite;
pub(crate) use field::Field;
pub use field::FieldSpec;
pub(crate) use graph_state::GraphState;
#[doc(hidden)]
pub use input::Start;
pub use input::{Input, InputError, InputProblem, IntoInput, UnknownKey};

use json::read_update;

pub(crate) use json::serialize_writes;
#[doc(hidden)]
pub use json::{
    FieldDeserializer, JsonInput, debug_update, deserialize_input, deserialize_update, parse_change,
    parse_overwrite_with, parse_value, parse_value_with, parse_with, serialize_update,
};
#[doc(hidden)]
pub use part::{Holds, PartOf};
#[doc(hidden)]
pub use sealed::Sealed;
#[doc(hidden)]
pub use setter::{
    AddSummand, AddedMessages, AnyValueArgument, AppendItems, AppendStrings, AppendText, Items, MaxValue,
    MergeEntries, MinValue, ReducerArgument, ReplaceArgument, UnionItems, UnionStrings,
};
#[doc(hidden)]
pub use show::{debug, debug_json, debug_option, display, display_option, dump_with, shown, shown_with};
pub use stored::{DecodeError, EncodeError, MigrationError, RestoreError, Stored};
#[doc(hidden)]
pub use stored::{
    Decoded, FieldPlace, Form, MigrationOutcome, Restore, decode_change, decode_change_with,
    decode_overwrite_with, encode_change, encode_change_with, encode_overwrite_with, encode_value,
    encode_value_with, migrate,
};
pub(crate) use stored::{canonical, decode_write, have_large_number};
#[doc(hidden)]
pub use update::{FieldWrite, JsonOf, Parsed, WriteKind};
pub use update::{IntoUpdate, Update};
#[doc(hidden)]
pub use value::IntoValue;
#[doc(hidden)]
pub use writes::Writes;
pub use written_fields::WrittenFields;
#[doc(hidden)]
pub use written_fields::{
    Flattened, FlattenedField, GivenValue, NoOverwrite, PlainField, WrittenField, flattened_field,
    flattened_writes, plain_field,
};

#[doc(hidden)]
/// The value that takes a write to a field of `S` back.
pub type UndoOf<S> = <<<S as GraphState>::Update as Update<S>>::Write as FieldWrite<S>>::Undo;
pub(crate) use validate::{Report, Violation};
