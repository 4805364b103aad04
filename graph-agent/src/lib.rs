//! Language models, tools and agents as parts of typed state graphs.

pub mod agent;
pub mod model;
pub mod tool;

#[doc(hidden)]
pub mod __private;

pub use model::chat_model::{ChatModel, ModelFuture, ModelStream};
pub use model::error::ModelError;
pub use model::request::{AnswerSchema, ChatRequest, ToolChoice, ToolSpec};
pub use model::scripted::ScriptedModel;
#[doc = include_str!("../docs/tool.md")]
pub use state_derive::tool;
