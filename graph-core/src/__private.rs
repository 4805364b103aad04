//! What generated code names. Not part of the public interface.

pub use crate::node::{
    ByRef, Choice, Exit, Extract, FixedParam, IntoLeave, IntoStep, IsState, IsView, Leave, NoPacket,
    NodeError, NodeRef, Packet, PacketType, Param, Payload, Route, Source, StateOrPacket, Step,
};
pub use crate::reducers::{self, ReduceError, Reducer, Replace, Stamp, Undo};
pub use crate::state::validate::{Report, Violation};
pub use crate::state::{
    Change, Dump, Field, FieldSpec, FieldWrite, GraphState, Input, InputError, InputProblem, IntoChange,
    IntoCustomChange, IntoUpdate, Overwrite, Parsed, PartOf, Start, UndoOf, Update, WriteKind, Writes,
};
pub use serde;
pub use serde_json;
