use std::marker::PhantomData;
use std::sync::Arc;

use crate::cache::{Cache, Clear};
use crate::drawing::{Diagram, Look};
use crate::engine::{Compiled, ErasedGraph};
use crate::error::{Error, ErrorKind};
use crate::node::{Shape, SingleNode};
use crate::run::run_stream::RunStream;
use crate::run::{ContextGiven, NeedsContext, Run};
use crate::state::{GraphState, Input as _, IntoInput, UnknownKey, Update as _};
use crate::store::{IntoStore, LongTermStore};

use super::shape::GraphShape;

/// A compiled graph. It is cheap to clone; its runs share it.
pub struct Graph<S: GraphState, D = ()>(
    pub(crate) Arc<Compiled>,
    /// The long-term store, which nodes reach by [`Context::store`](crate::Context::store).
    pub(crate) Option<LongTermStore>,
    /// The cache for results of nodes.
    pub(crate) Option<Arc<dyn Cache>>,
    PhantomData<fn(S, D)>,
);

impl<S: GraphState, D> Clone for Graph<S, D> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0), self.1.clone(), self.2.clone(), PhantomData)
    }
}

impl<S: GraphState, D> std::fmt::Debug for Graph<S, D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Graph").field("name", &self.0.name).field("nodes", &self.0.names).finish()
    }
}

impl<S: GraphState, D> Graph<S, D> {
    /// Creates a graph without stores. Its nodes have these types.
    pub(super) fn new(compiled: Compiled) -> Self {
        Self(Arc::new(compiled), None, None, PhantomData)
    }

    /// Returns the graph without its types.
    pub(crate) fn erased(&self) -> ErasedGraph {
        ErasedGraph(Arc::clone(&self.0), self.1.clone(), self.2.clone())
    }
}

impl<S: GraphState, D: Send + Sync + 'static> Graph<S, D> {
    /// Returns the graph's name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns the nodes' names, in registration order.
    pub fn nodes(&self) -> impl Iterator<Item = &str> {
        self.0.names.iter().map(|name| &**name)
    }

    /// Returns the current name of the node with this name or [alias](crate::StateGraph::alias).
    pub fn node(&self, name: &str) -> Option<&str> {
        self.0.find(name).and_then(|node| self.0.names.get(node)).map(|name| &**name)
    }

    /// Returns the graph with a long-term store, which its nodes reach by [`Context::store`](crate::Context::store).
    /// Takes a store, or a [`LongTermStore`] with options. See [`store`](crate::store).
    ///
    /// A long-term store keeps items for all threads; a checkpointer keeps the checkpoints of each. Both are optional,
    /// and their order does not matter. A subgraph uses the store of its parent graph, unless it has its own.
    pub fn with_store(&self, store: impl IntoStore) -> Self {
        Self(Arc::clone(&self.0), Some(store.into_store()), self.2.clone(), PhantomData)
    }

    /// Returns the graph with a cache for the results of nodes that have a [cache policy](crate::StateGraph::cache).
    /// See [`cache`](crate::cache).
    ///
    /// Graphs can share a cache: entries are keyed by the names of the graph and the node, and the state with its
    /// version. A subgraph uses the cache of its parent graph, unless it has its own.
    pub fn with_cache(&self, cache: impl Cache) -> Self {
        Self(Arc::clone(&self.0), self.1.clone(), Some(Arc::new(cache)), PhantomData)
    }

    /// Removes all results of this graph's nodes from its cache and returns their number.
    ///
    /// # Errors
    /// [`NoCache`](ErrorKind::NoCache) if the graph has no cache, [`Cache`](ErrorKind::Cache) if the cache
    /// fails.
    ///
    /// # Cancel safety
    /// Each result is removed as a whole or not at all. Dropping the future does not bring removed results back.
    pub async fn clear_cache(&self) -> Result<u64, Error> {
        self.clear(Clear::graph(self.name())).await
    }

    /// Removes all results of one node from the graph's cache and returns their number.
    ///
    /// # Errors
    /// [`UnknownNode`](ErrorKind::UnknownNode) if the graph does not have the node, and the errors of
    /// [`clear_cache`](Self::clear_cache).
    ///
    /// # Cancel safety
    /// As for [`clear_cache`](Self::clear_cache).
    pub async fn clear_cache_of<N, M>(&self, node: N) -> Result<u64, Error>
    where
        N: Shape<M>,
        N::Body: SingleNode,
    {
        let node = node.into_body().node_ref();
        let Some(name) = self.0.indices.get(&node).and_then(|&index| self.0.names.get(index)) else {
            let (node, what) = (node.name().to_owned(), "whose results could be cleared");
            let known = self.0.names.iter().map(ToString::to_string).collect();
            return Err(Error::new(self.name(), ErrorKind::UnknownNode { node, what, known }));
        };
        self.clear(Clear::node(self.name(), Arc::clone(name))).await
    }

    async fn clear(&self, which: Clear) -> Result<u64, Error> {
        let Some(cache) = &self.2 else { return Err(Error::new(self.name(), self.0.no_cache())) };
        cache.clear(which).await.map_err(|error| Error::new(self.name(), ErrorKind::Cache(Arc::new(error))))
    }

    /// Reads an input of this graph from JSON.
    ///
    /// # Errors
    /// [`Input`](crate::ErrorKind::Input) with *all* missing, unknown and ill-typed fields, each with its path.
    pub fn parse_input(&self, value: serde_json::Value) -> Result<S::Input, Error> {
        S::Input::from_json(value).map_err(|error| Error::new(&self.0.name, ErrorKind::Input(error)))
    }

    /// Reads an input of this graph from JSON, and returns the keys that are no fields of the input; see
    /// [`from_json_lenient`](crate::state::Input::from_json_lenient).
    ///
    /// # Errors
    /// [`Input`](crate::ErrorKind::Input) with *all* missing and ill-typed fields, each with its path.
    pub fn parse_input_lenient(
        &self,
        value: serde_json::Value,
    ) -> Result<(S::Input, Vec<UnknownKey>), Error> {
        S::Input::from_json_lenient(value).map_err(|error| Error::new(&self.0.name, ErrorKind::Input(error)))
    }

    /// Reads an update of this graph's state from JSON, for a program that edits threads; see
    /// [`Update::from_json`](crate::state::Update::from_json).
    ///
    /// ```
    /// # use superstep::checkpoint::MemoryCheckpointer;
    /// # use superstep::{END, GraphState, START, StateGraph};
    /// use serde_json::json;
    /// use superstep::thread::keep_plan;
    /// # #[derive(GraphState, Clone)]
    /// # struct Order { #[state(input)] item: String, #[state(reducer = append)] notes: Vec<String> }
    /// # async fn ship(_: &Order) {}
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> superstep::Result<()> {
    /// # let graph = StateGraph::<Order>::new().edge(START, ship).edge(ship, END).compile()?;
    /// # let orders = graph.with_checkpointer(MemoryCheckpointer::new());
    /// # let thread = orders.thread("17");
    /// # thread.run(Order::input("tee")).await?;
    /// let update = orders.graph().parse_update(json!({ "item": "tea", "notes": ["corrected"] }))?;
    /// thread.update(update, keep_plan()).await?;
    /// # assert_eq!(thread.state().await?.and_then(|at| at.state).expect("a state").item, "tea");
    ///
    /// let error = orders.graph().parse_update(json!({ "itm": "tea" })).unwrap_err();
    /// assert!(format!("{error:?}").contains("$.itm: unknown field; did you mean `item`?"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Input`](crate::ErrorKind::Input) with *all* unknown and ill-typed fields, each with its path.
    pub fn parse_update(&self, value: serde_json::Value) -> Result<S::Update, Error> {
        S::Update::from_json(value).map_err(|error| Error::new(&self.0.name, ErrorKind::Input(error)))
    }

    /// Prepares a run of this graph. Set its options, then await it.
    #[doc(alias = "invoke")]
    #[doc(alias = "ainvoke")]
    pub fn run(&self, input: impl IntoInput<S>) -> Run<S, D, NeedsContext> {
        Run::new(self.erased(), input.into_input())
    }

    /// Returns the structure of this graph as data: its nodes, edges, routes and joins, with those of its subgraphs.
    pub fn shape(&self) -> GraphShape {
        GraphShape::of(&self.0)
    }

    /// Returns the graph as a [Mermaid](https://mermaid.js.org) flowchart: edges are solid, routes are dotted and have
    /// labels, packets are thick arrows, joins are a `+`, and deferred nodes are stadiums.
    pub fn to_mermaid(&self) -> String {
        Diagram::of(&self.shape()).to_mermaid(&Look::default())
    }

    /// Returns the graph in the dot language of [Graphviz](https://graphviz.org).
    pub fn to_dot(&self) -> String {
        Diagram::of(&self.shape()).to_dot(&Look::default())
    }

    /// Returns the graph as an SVG image: one element without scripts, fonts or other files, for a page or a file.
    pub fn to_svg(&self) -> String {
        Diagram::of(&self.shape()).to_svg(&Look::default())
    }
}

impl<S: GraphState, D: Send + Sync + 'static> Graph<S, D> {
    /// Runs this graph, which needs no context, as a stream of events. To set a context or options, call
    /// [`run`](Self::run)`(..).`[`stream`](Run::stream)`()`.
    #[doc(alias = "astream")]
    pub fn stream(&self, input: impl IntoInput<S>) -> RunStream<S>
    where
        NeedsContext: ContextGiven<D>,
    {
        self.run(input).stream()
    }
}
