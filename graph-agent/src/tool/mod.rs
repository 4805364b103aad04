//! Tools: async functions that a language model may have called.

mod arguments;
mod call_tools;
mod node;
mod output;
mod request;
#[expect(clippy::module_inception, reason = "a file is named for what is in it")]
mod tool;
mod tools;

pub use arguments::{Argument, read_arguments, schema_of};
pub use call_tools::{ToolRoute, call_tools};
pub use node::{TOOLS, ToolNode, tool_node};
pub use output::{Fatal, IntoToolOutput, NoUpdate, ToolOutput, ToolReply};
pub use request::ToolRequest;
pub use tool::{Tool, ToolFuture, Turn};
pub use tools::{BadTools, Tools};
