//! What a thread has of the runs within its runs.

mod at;
mod calls;
mod outer;
mod update;

pub use at::SubgraphCallAt;
pub use calls::SubgraphCall;
pub use outer::Outer;
pub use update::UpdateSubgraphCall;
