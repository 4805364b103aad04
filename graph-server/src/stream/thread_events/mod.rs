//! The events of a run as events of its thread: the second version of the protocol.

mod checkpoint_chain;
mod lanes;
mod message_blocks;
mod message_events;
mod run_events;
mod run_tree;
mod sender;
mod tool_calls;

pub(super) use message_events::At;
pub(crate) use run_events::RunEvents;
pub(super) use sender::Sender;
pub(super) use tool_calls::ToolCalls;
