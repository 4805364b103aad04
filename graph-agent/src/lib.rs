//! Language models, tools and agents as parts of typed state graphs.

pub mod model;

pub use model::chat_model::{ChatModel, ModelFuture, ModelStream};
pub use model::error::ModelError;
pub use model::request::{AnswerSchema, ChatRequest, ToolChoice, ToolSpec};
