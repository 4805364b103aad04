use std::borrow::Cow;

use crate::StateGraph;
use crate::graph::CompileFirst;
use crate::state::GraphState;

use super::Subgraph;

impl<C: GraphState, D: Send + Sync + 'static> StateGraph<C, D> {
    #[doc(hidden)]
    pub fn as_node(&self, name: impl Into<Cow<'static, str>>) -> Subgraph<C, D>
    where
        Self: CompileFirst<C, D>,
    {
        self.compiled().as_node(name)
    }
}
