//! Items that generated code names. Not part of the public interface.

pub use crate::erased::{Packet, PacketType, Payload};
pub use crate::error::{Error, NodeError};
pub use crate::machine::{
    AnyNode, Edge, Ending, IntoNode, Leads, Machine, NodeData, NodeOf, OutputOf, RunState, StateInputOf,
    StateMachine, Stateless, Way, Wiring, debug_node, exit_to, read_node,
};
pub use crate::node::{
    ByRef, Extract, FixedParam, IsState, IsView, NoPacket, Param, Sent, Source, StateOrPacket, Unsent, View,
    Viewed,
};
pub use crate::payload::{Encoding, Payload as StoredPayload};
pub use crate::reducers::{FoldOutcome, ReduceError, Reducer, Replace, Stamp, StoredAs, Undo};
#[cfg(feature = "schema")]
pub use crate::schema;
pub use crate::state::validate::{Report, Violation, check_excluded_rule, check_invariant, check_rule};
pub use crate::state::{
    AddSummand, AddedMessages, AnyValueArgument, AppendItems, AppendStrings, AppendText, Items, MaxValue,
    MergeEntries, MinValue, ReducerArgument, ReplaceArgument, Sealed, StateCheck, UnionItems, UnionStrings,
};
pub use crate::state::{
    AlwaysShared, AnyState, Checked, FallbackWrite, FieldDeserializer, FieldType, FieldValue, Held, Itself,
    JsonInput, OptionalInput, Shared, StartValue, StoredValue, Tracked, TrackedUpdate, UntrackedStart,
    Written, debug, debug_json, debug_option, debug_update, deserialize_input, deserialize_update, display,
    display_option, dump_with, from_context, parse_change, parse_overwrite_with, parse_value,
    parse_value_with, parse_with, rules, serialize_update, shown, shown_with,
};
pub use crate::state::{
    Change, Dump, FieldSpec, FieldWrite, Holds, Input, InputError, InputProblem, IntoChange, IntoInput,
    IntoUpdate, IntoValue, JsonOf, Parsed, PartOf, Start, UndoOf, UnknownKey, Update, WriteKind, Writes,
};
pub use crate::state::{
    DecodeError, Decoded, EncodeError, FieldPlace, Form, MigrationError, MigrationOutcome, Restore,
    RestoreError, Stored, decode_change, decode_change_with, decode_overwrite_with, encode_change,
    encode_change_with, encode_overwrite_with, encode_value, encode_value_with, migrate,
};
pub use crate::state::{
    Flattened, FlattenedField, GivenValue, NoOverwrite, PlainField, WrittenField, WrittenFields,
    flattened_field, flattened_writes, plain_field,
};
pub use crate::step::{Choice, Exit, ExitTarget, IntoLeave, IntoStep, Leave, NodeRef, Step, Targets};
pub use crate::{Field, GraphState, Overwrite, Route};
#[cfg(feature = "schema")]
pub use schemars::JsonSchema;
pub use serde;
pub use serde_json::Value as JsonValue;
pub use std::format;
pub use std::string::String;
pub use std::vec::Vec;
pub use superstep_derive::graph;
pub use superstep_store::contain::error_text;

/// The built-in reducers of `reducer = ..`.
pub mod reducers {
    pub use crate::messages::AddMessages;
    pub use crate::reducers::*;
}

/// Items for states with a conversation.
pub mod messages {
    pub use crate::messages::{HasMessages, Message, MessagesUpdate};
    pub use crate::node::messages::has_messages::conversation;
}
