//! The beginning of a run: with an input, by a resumption, as a replay on a new branch, or with an update from outside.

mod at_checkpoint;
mod in_memory;
mod initial_state;
mod input;
mod keep_plan;
mod outside;
mod parts;
mod replay;
mod resume;
mod run_start;
mod update;

pub(crate) use initial_state::initial_state;
pub(crate) use initial_state::{started, updated};
pub(crate) use input::input_not_storable;
pub(crate) use outside::{Outside, UpdatedNode};
pub(crate) use parts::{Parts, rebuild};
pub(crate) use resume::{AddedTask, Resumption};
pub(crate) use run_start::RunStart;
pub(crate) use update::updated_as;
