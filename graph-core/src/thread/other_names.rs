//! Names of other libraries for methods of threads. The compiler answers with the name here.

use crate::node::End;
use crate::run::{NeedsContext, Run};
use crate::state::{GraphState, IntoInput, IntoUpdate};

use super::{History, OnThread, Thread, UpdateThread, WithInput, as_node};

/// Implemented by no type, so that `invoke` fails to compile with a helpful message.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a thread has no method `invoke`",
    label = "a thread is called by `run`",
    note = "write `.run(input).await?`, or `.run(input).stream()` for its events"
)]
pub trait InvokeThread {}

/// Implemented by no type, so that `get_state` fails to compile with a helpful message.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a thread has no method `get_state`",
    label = "the newest checkpoint is read by `state`",
    note = "write `.state().await?`, or `.at(checkpoint).state().await?` for an earlier checkpoint"
)]
pub trait GetThreadState {}

/// Implemented by no type, so that `get_state_history` fails to compile with a helpful message.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a thread has no method `get_state_history`",
    label = "the checkpoints are listed by `history`",
    note = "write `.history().limit(10).await?`"
)]
pub trait GetStateHistory {}

/// Implemented by no type, so that `update_state` fails to compile with a helpful message.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a thread has no method `update_state`",
    label = "the state is changed by `update`",
    note = "write `.update(Ticket::update().answer(\"yes\"), as_node(draft)).await?`, with the node that the update stands for"
)]
pub trait UpdateState {}

impl<S: GraphState, D: Send + Sync + 'static> Thread<S, D> {
    #[doc(hidden)]
    pub fn invoke(&self, input: impl IntoInput<S>) -> Run<S, D, NeedsContext, OnThread<S, WithInput<S>>>
    where
        Self: InvokeThread,
    {
        self.run(input)
    }

    #[doc(hidden)]
    pub fn get_state(&self) -> History<S, D>
    where
        Self: GetThreadState,
    {
        self.history()
    }

    #[doc(hidden)]
    pub fn get_state_history(&self) -> History<S, D>
    where
        Self: GetStateHistory,
    {
        self.history()
    }

    #[doc(hidden)]
    pub fn update_state(&self, update: impl IntoUpdate<S>) -> UpdateThread<S, D, NeedsContext>
    where
        Self: UpdateState,
    {
        self.update(update, as_node(End))
    }
}
