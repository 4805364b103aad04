//! The beginning of a run: with an input, by a resumption, as a replay on a new branch, or with an update from outside.

mod at_checkpoint;
mod begin;
mod input;
mod keep_plan;
mod on_thread;
mod outside;
mod parts;
mod replay;
mod resume;
mod update;

pub(crate) use begin::begin;
pub(crate) use begin::{started, updated};
pub(crate) use input::input_not_storable;
pub(crate) use on_thread::Begin;
pub(crate) use outside::{Outside, UpdatedNode};
pub(crate) use parts::{Parts, rebuild};
pub(crate) use resume::{AddedTask, Resumption};
pub(crate) use update::updated_as;
