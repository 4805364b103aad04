use std::collections::HashMap;
use std::sync::Arc;

use crate::cache::{Cache, Clear};
use crate::engine::FailureMode;
use crate::error::{Error, ErrorKind};
use crate::node::{Body, Decider, ErasedNode, NodeRef, OutwardType, ReadPacket, Shape};
use crate::plan::{START_PLACE, Topology};
use crate::run::{NeedsContext, Run};
use crate::state::{GraphState, Input as _, IntoInput};
use crate::store::{IntoStore, LongTermStore};
use crate::stream::RunStream;

use super::drawing::sketch::Sketch;
use super::{Breakpoints, NodeCache, NodePolicy, Picture, drawing};

/// A graph that can be run; cheap to clone, and shared by all its runs.
pub struct Graph<S: GraphState, D = ()>(
    pub(crate) Arc<Compiled<S, D>>,
    /// What nodes reach by [`Context::store`](crate::Context::store).
    pub(crate) Option<LongTermStore>,
    /// Where results of nodes are kept.
    pub(crate) Option<Arc<dyn Cache>>,
);

pub(crate) struct Compiled<S, D> {
    pub(crate) name: String,
    pub(crate) nodes: Vec<CompiledNode<S, D>>,
    pub(crate) names: Arc<[Arc<str>]>,
    /// Names that nodes had before.
    pub(crate) aliases: Vec<(String, usize)>,
    /// The route function that leaves START.
    pub(crate) start: Option<Decider<S, D>>,
    pub(crate) topology: Topology,
    /// Where the nodes that were meant have come to be.
    pub(crate) places: HashMap<NodeRef, usize>,
    /// The fields that are cleared once they could be read.
    pub(crate) ephemeral: Vec<usize>,
    /// A run may begin at any node: it is a machine.
    pub(crate) anywhere: bool,
    /// What its nodes can say to a graph around it.
    pub(crate) outward: Vec<OutwardType>,
    /// Where every run stops.
    pub(crate) breakpoints: Breakpoints<Vec<usize>>,
    /// What becomes of a failed node's siblings.
    pub(crate) failure_mode: FailureMode,
    /// Results of some of its nodes are cached.
    pub(crate) is_cached: bool,
}

pub(crate) struct CompiledNode<S, D> {
    pub(crate) run: Box<dyn ErasedNode<S, D>>,
    /// The route function that leaves it.
    pub(crate) decide: Option<Decider<S, D>>,
    /// How a packet for it is read back, where it takes one.
    pub(crate) read_packet: Option<ReadPacket>,
    /// The only node that follows it, when that is all there is to its leaving.
    pub(crate) chain: Option<usize>,
    /// What becomes of it when it fails or takes too long, where anything was said.
    pub(crate) policy: Option<Box<NodePolicy<S, D>>>,
}

impl<S, D> Compiled<S, D> {
    /// The place of the node of this name, or that had it before.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        let now = self.names.iter().position(|now| &**now == name);
        now.or_else(|| self.aliases.iter().find(|(alias, _)| alias == name).map(|(_, node)| *node))
    }

    /// The cache policy of a node.
    pub(crate) fn cache_of(&self, node: usize) -> Option<&NodeCache<S, D>> {
        self.nodes.get(node)?.policy.as_ref()?.cache.as_ref()
    }

    #[inline]
    pub(crate) fn has_policy(&self, node: usize) -> bool {
        self.nodes.get(node).is_some_and(|node| node.policy.is_some())
    }

    /// What is wrong with a graph that was given no cache.
    pub(crate) fn no_cache(&self) -> ErrorKind {
        let cached = self.names.iter().enumerate().filter(|(node, _)| self.cache_of(*node).is_some());
        ErrorKind::NoCache { nodes: cached.map(|(_, name)| name.as_ref().to_owned()).collect() }
    }

    /// The node's name; places come from this graph's own topology.
    pub(crate) fn node_name(&self, node: usize) -> &str {
        match node {
            START_PLACE => "START",
            node => self.names.get(node).map_or("?", |name| name),
        }
    }
}

impl<S: GraphState, D> Clone for Graph<S, D> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0), self.1.clone(), self.2.clone())
    }
}

impl<S: GraphState, D> std::fmt::Debug for Graph<S, D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Graph").field("name", &self.0.name).field("nodes", &self.0.names).finish()
    }
}

impl<S: GraphState, D: Send + Sync + 'static> Graph<S, D> {
    /// The graph's name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The nodes' names, in registration order.
    pub fn nodes(&self) -> impl Iterator<Item = &str> {
        self.0.names.iter().map(|name| &**name)
    }

    /// The node that has this name, or had it before and says so by an alias.
    pub fn node(&self, name: &str) -> Option<&str> {
        self.0.find(name).and_then(|node| self.0.names.get(node)).map(|name| &**name)
    }

    /// The graph with a long-term store, which its nodes reach by [`Context::store`](crate::Context::store); a store of which nothing
    /// more is to be said is taken as it is. See [`store`](crate::store).
    ///
    /// With or without a checkpointer, and before or after it: the one keeps what belongs to a thread, the other what belongs
    /// to all of them. A graph that is a node of another one has that one's store, unless it was given its own.
    pub fn with_store(&self, store: impl IntoStore) -> Self {
        Self(Arc::clone(&self.0), Some(store.into_store()), self.2.clone())
    }

    /// The graph with a cache for the results of its nodes, as far as they have a
    /// [cache policy](crate::StateGraph::cache). See [`cache`](crate::cache).
    ///
    /// Graphs may share a cache: results are kept under the names of the graph, the node and the state with its version. A graph
    /// that is a node of another one has that one's cache, unless it was given its own.
    pub fn with_cache(&self, cache: impl Cache) -> Self {
        Self(Arc::clone(&self.0), self.1.clone(), Some(Arc::new(cache)))
    }

    /// Takes every result of this graph's nodes out of its cache; how many that were.
    ///
    /// # Errors
    /// [`NoCache`](ErrorKind::NoCache) if it has none, [`CacheFailed`](ErrorKind::CacheFailed) if that fails.
    ///
    /// # Cancel safety
    /// What has been taken out is out; nothing is half gone.
    pub async fn clear_cache(&self) -> Result<u64, Error> {
        self.clear(Clear::OfGraph(Arc::from(self.name()))).await
    }

    /// Takes every result of one node out of the graph's cache; how many that were.
    ///
    /// # Errors
    /// [`UnknownNode`](ErrorKind::UnknownNode), and what [`clear_cache`](Self::clear_cache) says.
    ///
    /// # Cancel safety
    /// What has been taken out is out; nothing is half gone.
    pub async fn clear_cache_of<N, M, F>(&self, node: N) -> Result<u64, Error>
    where
        N: Shape<M, Body = Body<F>>,
    {
        let node = node.into_body().node;
        let Some(name) = self.0.places.get(&node).and_then(|&place| self.0.names.get(place)) else {
            let (node, what) = (node.name().to_owned(), "whose results could be cleared");
            return Err(Error::new(self.name(), ErrorKind::UnknownNode { node, what }));
        };
        self.clear(Clear::OfNode { graph: Arc::from(self.name()), node: Arc::clone(name) }).await
    }

    async fn clear(&self, which: Clear) -> Result<u64, Error> {
        let Some(cache) = &self.2 else { return Err(Error::new(self.name(), self.0.no_cache())) };
        cache
            .clear(which)
            .await
            .map_err(|error| Error::new(self.name(), ErrorKind::CacheFailed(Arc::new(error))))
    }

    /// Reads an input of this graph from JSON.
    ///
    /// # Errors
    /// [`Input`](crate::ErrorKind::Input) with *all* missing, unknown and ill-typed fields, each with its path.
    pub fn parse_input(&self, value: serde_json::Value) -> Result<S::Input, Error> {
        S::Input::from_json(value).map_err(|error| Error::new(&self.0.name, ErrorKind::Input(error)))
    }

    /// A run of this graph; awaiting it runs it. Options are set before.
    pub fn run(&self, input: impl IntoInput<S>) -> Run<S, D, NeedsContext> {
        Run::new(self.clone(), input.into_input())
    }

    /// The graph as a [Mermaid](https://mermaid.js.org) flowchart: edges solid, routes dotted with their labels,
    /// packets as thick arrows, joins as a `+`, deferred nodes as stadiums.
    pub fn to_mermaid(&self) -> String {
        drawing::to_mermaid(&Sketch::of(&self.0))
    }

    /// The graph in [Graphviz](https://graphviz.org)' dot language.
    pub fn to_dot(&self) -> String {
        drawing::to_dot(&Sketch::of(&self.0))
    }

    /// The graph as an SVG image: one element, without script, font or other files, that can be put into a page or a file.
    pub fn to_svg(&self) -> String {
        drawing::to_svg(&Sketch::of(&self.0))
    }

    /// A picture of this graph in any of these forms, with whatever shall be seen in it besides: notes, labels, marks.
    pub fn picture(&self) -> Picture<S, D> {
        Picture::new(self.clone())
    }
}

impl<S: GraphState> Graph<S> {
    /// A run of this graph as a stream of everything that happens in it; options go through
    /// [`run`](Self::run)`(..).`[`stream`](Run::stream)`()`.
    pub fn stream(&self, input: impl IntoInput<S>) -> RunStream<S> {
        self.run(input).stream()
    }
}
