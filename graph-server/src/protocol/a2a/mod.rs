//! Agent2Agent: messages, tasks and the parameters of methods, in the JSON of versions 0.3 and 1.0.

mod error;
mod message;
mod method;
mod page_token;
mod params;
mod task;
mod task_id;

pub(crate) use error::A2aError;
pub(crate) use message::{Message, Part, Role, merged};
pub(crate) use method::{Method, Version};
pub(crate) use page_token::PageToken;
pub(crate) use params::{ListParams, SendParams, TaskParams};
pub(crate) use task::{Artifact, Task, TaskState, artifact_update, status_update, stream_item};
pub(crate) use task_id::TaskId;
