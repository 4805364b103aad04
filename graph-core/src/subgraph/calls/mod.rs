//! The subgraph calls of a thread.

mod call_status;
mod outer;
mod subgraph_call;
mod subgraph_call_at;
mod update_subgraph_call;

pub use outer::CallParent;
pub use subgraph_call::SubgraphCall;
pub use subgraph_call_at::SubgraphCallAt;
pub use update_subgraph_call::UpdateSubgraphCall;
