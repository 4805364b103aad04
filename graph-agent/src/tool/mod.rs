//! Tools: async functions that a language model may call.

mod arguments;
mod call_tools;
mod output;
#[expect(clippy::module_inception, reason = "a file is named for what is in it")]
mod tool;
mod tool_node;
mod tool_request;
mod tools;

pub use arguments::{Argument, read_arguments, schema_of};
pub use call_tools::{ToolRoute, call_tools};
pub use output::{Fatal, IntoToolOutput, NoUpdate, ToolOutput, ToolReply};
pub use tool::{Tool, ToolFuture, ToolInvocation};
pub use tool_node::{TOOLS, ToolNode, tool_node};
pub use tool_request::ToolRequest;
pub use tools::{InvalidTools, Tools};
