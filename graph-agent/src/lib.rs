//! Language models, tools and agents as parts of typed state graphs.
//!
//! - A [`ChatModel`] writes the next message of a conversation: `OpenAiModel` calls a chat endpoint, [`ScriptedModel`] is for tests.
//! - A [tool](mod@tool) is an async function that a model may call.
//! - An [`Agent`](agent::Agent) is a graph of a model and its tools.
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `openai` | `OpenAiModel`, a model behind any endpoint that speaks OpenAI's chat protocol, through `async-openai` |
//! | `conformance` | [`conformance`], a test for every promise of a [`ChatModel`], for authors of models |
//! | `tracing` | spans of model calls and tool calls, as children of the spans of [`superstep`], named by OpenTelemetry's conventions |

pub mod agent;
#[cfg(feature = "conformance")]
pub mod conformance;
pub mod model;
mod shortened;
mod spans;
pub mod tool;

#[doc(hidden)]
pub mod __private;

pub use model::chat_model::{ChatModel, ModelFuture, ModelStream};
pub use model::error::ModelError;
#[cfg(feature = "openai")]
pub use model::openai::{OpenAiBuilder, OpenAiModel};
pub use model::request::{ChatRequest, ResponseSchema, ToolChoice, ToolSpec};
pub use model::scripted::ScriptedModel;
/// The crate that derives `JsonSchema` for the types of arguments and answers.
///
/// If `schemars` is not a dependency of your crate, add `#[schemars(crate = "superstep_agent::schemars")]` next to the derive.
pub use schemars;
#[doc = include_str!("../docs/tool.md")]
pub use superstep_derive::tool;
