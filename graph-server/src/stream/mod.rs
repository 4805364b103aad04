//! The events of a run as the classic events of the protocol: `values`, `updates`, `messages` and so on.

mod astream;
mod checkpoints;
mod chunk;
mod converter;
mod messages;
mod out;
mod stream_spec;
mod tasks;
mod thread_changes;
mod thread_events;
mod tools;
mod updates;

pub(crate) use converter::{Converter, with_interrupts};
pub(crate) use stream_spec::StreamSpec;
pub(crate) use thread_changes::{STATE_UPDATE, run_done, state_update};
pub(crate) use thread_events::RunEvents;
pub(crate) use updates::{interrupts_json, update_json};
