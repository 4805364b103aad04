use std::sync::Arc;

use superstep::schema::StateSchema;
use superstep::{Graph, GraphState};

use super::any_graph::{Bound, Stores};
use super::bound_graph::BoundGraph;
use super::run_context::MakeContext;
use super::{ContextError, RunContext, Schemas};

/// A graph as a [`Server`](crate::Server) serves it: the graph, the context of its runs, and its schemas.
///
/// ```
/// use superstep::{END, GraphState, START, StateGraph};
/// use superstep_server::{Served, Server};
///
/// #[derive(GraphState, Clone)]
/// #[state(schema)]
/// struct Echo {
///     #[state(input)]
///     said: String,
/// }
///
/// async fn answer(_: &Echo) {}
///
/// # fn main() -> superstep::Result<()> {
/// let graph = StateGraph::<Echo>::new().edge(START, answer).edge(answer, END).compile()?;
/// let server = Server::new().graph("echo", Served::new(graph).with_schemas());
/// # drop(server);
/// # Ok(())
/// # }
/// ```
pub struct Served<S: GraphState, D = ()> {
    graph: Graph<S, D>,
    context: MakeContext<D>,
    schemas: Schemas,
}

impl<S: GraphState> Served<S> {
    /// Serves a graph without a context.
    pub fn new(graph: Graph<S>) -> Self {
        Self::with_context(graph, |_| Ok(()))
    }
}

impl<S: GraphState, D: Send + Sync + 'static> Served<S, D> {
    /// Serves a graph whose runs get the context that `make` returns for the request.
    ///
    /// A context that is refused is the client's mistake: the request fails with 422 before the thread is changed.
    pub fn with_context<C: Into<Arc<D>>>(
        graph: Graph<S, D>,
        make: impl Fn(&RunContext) -> Result<C, ContextError> + Send + Sync + 'static,
    ) -> Self {
        let context: MakeContext<D> = Arc::new(move |request| make(request).map(Into::into));
        Self { graph, context, schemas: Schemas::of_names::<S>() }
    }

    /// Adds the schemas of the state, which clients get as the schemas of the graph's assistants.
    ///
    /// Without them, the schemas name the fields only.
    #[must_use]
    pub fn with_schemas(self) -> Self
    where
        S: StateSchema,
    {
        Self { schemas: Schemas::derived::<S>(), ..self }
    }
}

impl<S: GraphState, D> std::fmt::Debug for Served<S, D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Served").field("graph", &self.graph).finish_non_exhaustive()
    }
}

/// A graph that a [`Server`](crate::Server) can serve: a [`Graph`] without a context, or a [`Served`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be served",
    label = "expected a graph without a context, or a `Served`",
    note = "use `Served::with_context(graph, |request| ..)` or `graph_with_context(..)` for a graph with a context"
)]
pub trait IntoServed: Send + 'static {
    #[doc(hidden)]
    fn bind(self, stores: &Stores) -> Bound;
}

impl<S: GraphState> IntoServed for Graph<S> {
    fn bind(self, stores: &Stores) -> Bound {
        Served::new(self).bind(stores)
    }
}

impl<S: GraphState, D: Send + Sync + 'static> IntoServed for Served<S, D> {
    fn bind(self, stores: &Stores) -> Bound {
        let Self { graph, context, schemas } = self;
        let has_subgraphs = graph.shape().nodes.iter().any(|node| node.subgraph.is_some());
        let stored =
            graph.with_store(stores.store.clone()).with_checkpointer(Arc::clone(&stores.checkpointer));
        Bound(Arc::new(BoundGraph { stored, context, schemas, has_subgraphs }))
    }
}
