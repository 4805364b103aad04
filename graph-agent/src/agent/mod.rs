//! Agents: a model and its tools as a graph.
//!
//! An [`Agent`] consists of parts that you can also use in your own graphs:
//!
//! - a [`ModelNode`], which calls a model,
//! - a [`ToolNode`](crate::tool::ToolNode), which runs the tool calls of the model,
//! - the route between them, [`call_tools`](crate::tool::call_tools).
//!
//! This is the complete graph of an agent:
//!
//! ```
//! # use std::sync::Arc;
//! # use superstep_agent::agent::{MODEL, ModelNode};
//! # use superstep_agent::tool::{Tools, call_tools, tool_node};
//! # use superstep_agent::{ChatModel, tool};
//! # use superstep::messages::{MessagesState, messages_sanity};
//! # use superstep::{END, START, StateGraph, named};
//! # /// Returns the current time.
//! # #[tool]
//! # async fn clock() -> &'static str { "noon" }
//! # fn graph(chat: Arc<dyn ChatModel>) -> Result<StateGraph<MessagesState>, Box<dyn std::error::Error>> {
//! let tools = Tools::new().with(clock);
//! let model = named(MODEL, ModelNode::<MessagesState>::new(chat).tools(&tools));
//! let tools = tool_node(tools)?;
//! let graph = StateGraph::<MessagesState>::new()
//!     .edge(START, messages_sanity)
//!     .edge(messages_sanity, &model)
//!     .route(&model, call_tools::<MessagesState>)
//!     .edge(&tools, &model);
//! # Ok(graph)
//! # }
//! ```

#[expect(clippy::module_inception, reason = "a file is named for what is in it")]
mod agent;
mod compile_hint;
mod model_node;
mod model_source;
mod structured_output_node;

pub use agent::{Agent, StructuredAgent};
#[doc(hidden)]
pub use compile_hint::{CompileHint, RunHint};
pub use model_node::{MODEL, ModelNode};
pub use structured_output_node::{ANSWER, InvalidOutput, StructuredOutputNode};
