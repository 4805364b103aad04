use crate::StateGraph;
use crate::checkpoint::Checkpointer;
use crate::graph::{CompileFirst, Graph};
use crate::state::GraphState;

use super::{PersistentGraph, Thread};

/// Implemented by no type, so that threads of a graph without a checkpointer fail to compile with a helpful message.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a graph without a checkpointer has no threads",
    label = "threads need a checkpointer",
    note = "write `.with_checkpointer(..)` on the compiled graph before this call, for example with `MemoryCheckpointer::new()`"
)]
pub trait CheckpointerFirst<S: GraphState, D> {
    fn persistent(&self) -> &PersistentGraph<S, D>;
}

impl<S: GraphState, D: Send + Sync + 'static> Graph<S, D> {
    #[doc(hidden)]
    pub fn thread(&self, name: impl AsRef<str>) -> Thread<S, D>
    where
        Self: CheckpointerFirst<S, D>,
    {
        self.persistent().thread(name)
    }
}

impl<S: GraphState, D: Send + Sync + 'static> StateGraph<S, D> {
    #[doc(hidden)]
    pub fn thread(&self, name: impl AsRef<str>) -> Thread<S, D>
    where
        Self: CheckpointerFirst<S, D>,
    {
        self.persistent().thread(name)
    }

    #[doc(hidden)]
    pub fn with_checkpointer(&self, checkpointer: impl Checkpointer) -> PersistentGraph<S, D>
    where
        Self: CompileFirst<S, D>,
    {
        self.compiled().with_checkpointer(checkpointer)
    }
}
