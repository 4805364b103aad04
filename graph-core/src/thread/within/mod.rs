//! What a thread has of the runs within its runs.

mod at;
mod calls;
mod outer;
mod update;

pub use at::WithinAt;
pub use calls::Within;
pub use outer::Outer;
pub use update::UpdateWithin;
