//! Language models, tools and agents as parts of typed state graphs.
//!
//! A [`ChatModel`] goes on with a conversation: `OpenAiModel` behind a chat endpoint, [`ScriptedModel`] in tests. What it may have
//! called is a [tool](mod@tool); an [`Agent`](agent::Agent) is the graph of both.
//!
//! # Features
//!
//! | feature | what it adds |
//! |---|---|
//! | `openai` | `OpenAiModel`, a model behind any endpoint that understands OpenAI's chat protocol, through `async-openai` |
//! | `tracing` | spans of model calls and tools within those of [`superstep`], by OpenTelemetry's conventions |

pub mod agent;
pub mod model;
mod spans;
pub mod tool;

#[doc(hidden)]
pub mod __private;

pub use model::chat_model::{ChatModel, ModelFuture, ModelStream};
pub use model::error::ModelError;
#[cfg(feature = "openai")]
pub use model::openai::{OpenAiBuilder, OpenAiModel};
pub use model::request::{AnswerSchema, ChatRequest, ToolChoice, ToolSpec};
pub use model::scripted::ScriptedModel;
/// What the types of arguments and answers derive `JsonSchema` from; where it is not a dependency of yours, say so beside the
/// derive: `#[schemars(crate = "superstep_agent::schemars")]`.
pub use schemars;
#[doc = include_str!("../docs/tool.md")]
pub use superstep_derive::tool;
