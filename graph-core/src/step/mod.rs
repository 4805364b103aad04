//! The result of a node: its update, and its exits along a route or a parent command.

pub(crate) mod exit_target;
mod identity;
mod leave;
mod parent_command;
mod prepare;
mod read_state;
mod route;
#[expect(clippy::module_inception, reason = "a type lives in the file of its name")]
mod step;
mod stored_exit;
mod stored_update;
mod targets;

pub use exit_target::ExitTarget;
pub(crate) use exit_target::States;
pub(crate) use identity::own_name;
pub use identity::{END, End, Named, NodeRef, START, Start, named};
pub use leave::{Choice, ErasedParentCommand, Exit, Leave, ParentCommandType};
pub use parent_command::{NoRoute, ParentCommand, ParentRoute};
pub(crate) use prepare::prepare;
pub use read_state::ReadState;
pub use route::{IntoLeave, Route};
pub use step::{ErasedStep, IntoStep, Step};
pub(crate) use stored_exit::{KnownExit, StoredExit, UnreadablePacket};
pub(crate) use stored_update::{StoredUpdate, UnreadableUpdate};
pub use targets::Targets;
