use std::any::TypeId;
use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::cache::Cache;
use crate::engine::context::ErasedContext;
use crate::erased::{ErasedState, Packet, PacketType, ReadPacket, StateType, TaskWrites};
use crate::error::{ErrorKind, NodeError};
use crate::options::{Breakpoints, FailureMode};
use crate::plan::{START_PLACE, Topology};
use crate::policy::ResolvedPolicy;
use crate::state::WrittenField;
use crate::step::{ErasedStep, NodeRef, ParentCommandType};
use crate::store::LongTermStore;

use super::call_storage::CallStorage;
use super::kept_state::{KeptState, KeptStates};
use super::node_cache::NodeCache;
use super::source::Decider;
use super::spares::SparePool;

/// A graph without the types of its state and context.
#[derive(Clone)]
pub(crate) struct ErasedGraph(
    pub(crate) Arc<Compiled>,
    pub(crate) Option<LongTermStore>,
    pub(crate) Option<Arc<dyn Cache>>,
);

pub struct Compiled {
    /// The type of the state.
    pub(crate) state: &'static StateType,
    pub(crate) name: String,
    pub(crate) nodes: Vec<CompiledNode>,
    pub(crate) names: Arc<[Arc<str>]>,
    /// Earlier names of nodes.
    pub(crate) aliases: Vec<(String, usize)>,
    /// The index of the node with each name or, if no node has it, each earlier name.
    pub(crate) by_name: HashMap<Arc<str>, usize>,
    /// The route function that leaves START.
    pub(crate) start: Option<Decider>,
    pub(crate) topology: Topology,
    /// The index of each node.
    pub(crate) indices: HashMap<NodeRef, usize>,
    /// The indices of the ephemeral fields.
    pub(crate) ephemeral: Vec<usize>,
    /// `true` if a run may begin at any node: the graph is a machine.
    pub(crate) anywhere: bool,
    /// The parent commands that its nodes can return.
    pub(crate) parent_commands: Vec<ParentCommandType>,
    pub(crate) breakpoints: Breakpoints<Vec<usize>>,
    pub(crate) failure_mode: FailureMode,
    /// `true` if a node has a cache policy.
    pub(crate) is_cached: bool,
    pub(crate) kept_states: KeptStates,
    /// The fields that a finished run has written; `None` if it can have written any.
    pub(crate) writes: Option<Vec<WrittenField>>,
    /// Memory for the writes of later runs.
    pub(crate) spares: Arc<SparePool>,
}

pub(crate) struct CompiledNode {
    pub(crate) run: Box<dyn ErasedNode>,
    /// The node's route function.
    pub(crate) decide: Option<Decider>,
    /// The type of the packet that the node reads.
    pub(crate) packet: Option<PacketType>,
    /// Reads the node's packets back from a checkpoint.
    pub(crate) read_packet: Option<ReadPacket>,
    /// The node's only successor, if a task that leaves it has nothing to decide or clear.
    pub(crate) chain: Option<usize>,
    /// The same for each exit of its route.
    pub(crate) exit_chains: Vec<Option<usize>>,
    pub(crate) policy: Option<Box<NodePolicy>>,
}

impl Compiled {
    /// Returns the index of the node with this name or alias.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// The cache policy of a node.
    pub(crate) fn cache_of(&self, node: usize) -> Option<&NodeCache> {
        self.nodes.get(node)?.policy.as_ref()?.cache.as_ref()
    }

    #[inline]
    pub(crate) fn has_policy(&self, node: usize) -> bool {
        self.nodes.get(node).is_some_and(|node| node.policy.is_some())
    }

    /// The error of a graph with cache policies but without a cache.
    pub(crate) fn no_cache(&self) -> ErrorKind {
        let cached = self.names.iter().enumerate().filter(|(node, _)| self.cache_of(*node).is_some());
        ErrorKind::NoCache { nodes: cached.map(|(_, name)| name.as_ref().to_owned()).collect() }
    }

    /// Returns `true` if the node runs a graph.
    pub(crate) fn is_subgraph(&self, node: usize) -> bool {
        self.nodes.get(node).is_some_and(|node| node.run.as_subgraph().is_some())
    }

    /// Returns the node's name. Indices come from this graph's own topology.
    pub(crate) fn node_name(&self, node: usize) -> &str {
        match node {
            START_PLACE => "START",
            node => self.names.get(node).map_or("?", |name| name),
        }
    }
}

/// The policy of a compiled node.
pub(crate) struct NodePolicy {
    pub(crate) limits: ResolvedPolicy,
    pub(crate) handler: Option<Handler>,
    pub(crate) cache: Option<NodeCache>,
}

/// The error handler of a compiled node.
pub(crate) struct Handler {
    pub(crate) run: Arc<dyn ErasedNode>,
    /// The index of the first of its exits among those of the node.
    pub(crate) exits_from: usize,
}

/// A node's boxed future. It is the only allocation of a task.
pub(crate) type StepFuture<'a> = Pin<Box<dyn Future<Output = Result<ErasedStep, NodeError>> + Send + 'a>>;

/// A type-erased node.
pub trait ErasedNode: Send + Sync {
    /// Starts one attempt.
    ///
    /// The parts of its source are separate arguments, which are passed in registers. A struct would be read back right
    /// after it was written, which stalls.
    #[doc(hidden)]
    fn call<'a>(
        &'a self,
        state: &'a dyn ErasedState,
        packet: Option<&'a Packet>,
        ctx: &'a dyn ErasedContext,
        spare: TaskWrites,
    ) -> StepFuture<'a>;

    /// Returns the node as a subgraph, if it runs a graph.
    // One method with a default, because each is compiled for each node.
    #[doc(hidden)]
    fn as_subgraph(&self) -> Option<&dyn SubgraphNode> {
        None
    }
}

/// A type-erased node that runs a graph.
pub trait SubgraphNode: Send + Sync {
    /// Returns its graph; `None` if the subgraph is lazy.
    #[doc(hidden)]
    fn graph(&self) -> Option<&Compiled>;

    /// Returns `true` if a call works on the parent state.
    #[doc(hidden)]
    fn is_on_parent_state(&self) -> bool;

    /// Sets, for each route of a parent command, the number of its first exit among the exits of this node.
    #[doc(hidden)]
    fn set_command_exits(&self, exits: Vec<(TypeId, usize)>);

    /// Returns the states that it keeps on the thread.
    #[doc(hidden)]
    fn kept_state(&self) -> KeptState;

    /// Returns the place of the call that an unfinished task has stored; `None` if it stores none.
    #[doc(hidden)]
    fn stored_call<'a>(&self, state: &'a dyn ErasedState, packet: Option<&Packet>) -> Option<StoredCall<'a>>;
}

/// A subgraph call as a task has stored it on the thread.
pub struct StoredCall<'a> {
    pub(crate) storage: CallStorage,
    /// `true` if several tasks of a superstep may make the call.
    pub(crate) packets: bool,
    /// The parent state, if the call shares it.
    pub(crate) base: Option<&'a dyn ErasedState>,
}
