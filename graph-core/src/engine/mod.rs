//! The engine: executes the tasks of a superstep, applies their updates and plans the next superstep.

mod apply;
mod at;
pub(crate) mod child;
mod context;
mod graph;
mod journal;
pub(crate) mod persist;
mod restore;
mod run;
mod spans;
mod start;
mod stored;
mod task;

pub(crate) use apply::{followed_by, own};
pub(crate) use child::ParentHead;
pub(crate) use child::{call_id, journals, shared_from_outside, thread_task, withdraw, write_to_parents};
pub(crate) use context::{AppContext, ErasedContext, RunShared};
pub use context::{
    Attempted, Context, ContextWith, DurableStep, DurableSteps, Interrupt, Sleep, TimedInterrupt,
};
pub(crate) use context::{ParentRun, RunMetadata, TaskMemories};
pub use graph::KeptState;
pub(crate) use graph::{CallStorage, Decider, KeyFn, StepFuture, StoredCall};
pub(crate) use graph::{Compiled, CompiledNode, ErasedGraph, Handler, KeptStates, NodeCache, NodePolicy};
pub use graph::{ErasedNode, ErasedSource, SubgraphNode};
pub(crate) use journal::{AbandonedRuns, Journal, ParentTask, ThreadTask};
pub(crate) use restore::{
    AppliedBy, AppliedResults, PageStates, RestoredCheckpoint, TaskProgress, TaskRecords, Waiting,
    earlier_call, has_unrecorded_tasks, is_applied_by, open, open_call, open_state, planned, read_tasks,
    shown_state,
};
pub(crate) use run::{Driver, caught, caught_call, not_filled, run_record};
pub use spans::About;
pub(crate) use spans::RunSpan;
pub(crate) use start::{
    AddedTask, Outside, Resumption, RunStart, UpdatedNode, rebuild, started, updated, updated_as,
};
pub(crate) use stored::{
    GivenAnswer, Program, RefusedAnswer, START, Stopped, StoredBreakpoints, StoredFailure, StoredQuestion,
    StoredRequest, StoredTask, answers_at_first, begun_joins, check_answers, is_accepted_later, parent_task,
    planned_at, read_breakpoints, shares_state, shown_packets,
};
