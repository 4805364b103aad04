//! A compiled graph as the engine sees it: nodes, route functions, policies and topology.

mod call_storage;
mod compiled;
mod kept_state;
mod node_cache;
mod source;
mod spares;

pub(crate) use call_storage::CallStorage;
pub(crate) use compiled::{Compiled, CompiledNode, ErasedGraph, Handler, NodePolicy, StepFuture, StoredCall};
pub use compiled::{ErasedNode, SubgraphNode};
pub use kept_state::KeptState;
pub(crate) use kept_state::KeptStates;
pub(crate) use node_cache::NodeCache;
pub use source::ErasedSource;
pub(crate) use source::{Decider, KeyFn};
pub(crate) use spares::Spares;
