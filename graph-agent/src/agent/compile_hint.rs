use superstep::messages::HasMessages;
use superstep::{Error, Graph};

use super::{Agent, StructuredAgent};

/// Implemented by no type, so that `Agent::compile` fails to compile with a helpful message.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "an agent becomes a graph before it is compiled",
    label = "an agent is not a graph yet",
    note = "write `.graph()?.compile()?`: the graph of an agent can be extended before it is compiled"
)]
pub trait CompileHint<S: HasMessages, D> {
    fn compiled(self) -> Result<Graph<S, D>, Error>;
}

impl<S: HasMessages, D: Send + Sync + 'static> Agent<S, D> {
    #[doc(hidden)]
    pub fn compile(self) -> Result<Graph<S, D>, Error>
    where
        Self: CompileHint<S, D>,
    {
        self.compiled()
    }
}

impl<S: HasMessages, T, D: Send + Sync + 'static> StructuredAgent<S, T, D> {
    #[doc(hidden)]
    pub fn compile(self) -> Result<Graph<S, D>, Error>
    where
        Self: CompileHint<S, D>,
    {
        self.compiled()
    }
}
