//! Graphs without their types. JSON is the only form in which a state crosses this border.

mod any_graph;
mod registry;
mod run_spec;

mod answers;
mod bound_graph;
mod events_of;
mod ids;
mod prepared;
mod run_context;
mod run_failure;
mod schemas;
mod served;
mod served_event;
mod state_view;
mod update;

pub(crate) use any_graph::{AnyGraph, Bound, HistoryQuery, PreparedRun, Stores, UpdateSpec};
pub(crate) use ids::{checkpoint_uuid, interrupt_id, read_checkpoint_id, task_uuid};
pub(crate) use registry::Graphs;
pub use run_context::{ContextError, RunContext};
pub(crate) use run_failure::RunFailure;
pub(crate) use run_spec::{BeginSpec, Breakpoints, Execution, GotoSpec, RunOptions, RunSpec, Way};
pub(crate) use schemas::Schemas;
pub use served::{IntoServed, Served};
pub(crate) use served_event::{ServedEvent, ServedKind, Stopped, StoredAt};
pub(crate) use state_view::{StateView, TaskView};
