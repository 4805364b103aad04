//! What a run on a thread stores, and how it is taken up again.

mod begin;
mod held;
mod hooks;
mod journal;
mod open;
mod pieces;
mod program;
mod progress;
mod recorder;
mod records;
mod sizes;
mod step;
mod update;
mod writer;

pub(crate) use begin::{Begin, GoOn};
pub(crate) use hooks::{answer_record, run_record};
pub(crate) use journal::Journal;
pub(crate) use open::{Opened, START, open, open_state, read_gate, read_state, read_tasks, shown_packet};
pub(crate) use program::Program;
pub(crate) use recorder::Recorder;
pub(crate) use update::{Outside, Place, updated_as};
pub(crate) use writer::Persist;
