use superstep::__private::error_text;
use superstep::messages::{HasMessages, MessagesUpdate, ToolCall, ToolMessage};
use superstep::node::Named;
use superstep::state::Update;
use superstep::{ContextWith, GraphState, PacketNode, Result, named};

use crate::shortened::shortened;
use crate::spans;

use super::arguments::MAX_ERROR_CHARS;
use super::{Fatal, InvalidTools, ToolInvocation, ToolOutput, ToolRequest, Tools};

/// The name of the target node of [`call_tools`](super::call_tools).
pub const TOOLS: &str = "tools";

/// A node that runs tool calls.
///
/// Each call is a task of its own:
///
/// - The calls run in parallel.
/// - Each call has its own interrupts and durable steps.
/// - The result of a finished call is kept if another call fails.
/// - The results are in the order of the calls.
///
/// An unknown tool, invalid arguments and an error of a tool do not fail the node. The model gets a tool message with the status
/// `error` and may try again. Only a [`Fatal`] error fails the node. Errors quote only the beginning and the end of long
/// arguments, and of a tool's own error the model gets at most 10,000 characters.
///
/// The node writes the tool's message first, and then the tool's update of the state.
pub struct ToolNode<S: GraphState, D = ()> {
    tools: Tools<S, D>,
}

/// Creates a [`ToolNode`] with the name that [`call_tools`](super::call_tools) expects.
///
/// # Errors
/// [`InvalidTools`], if two tools have the same name or a tool has a name that models do not accept.
pub fn tool_node<S: HasMessages, D: Send + Sync + 'static>(
    tools: Tools<S, D>,
) -> Result<Named<ToolNode<S, D>>, InvalidTools> {
    Ok(named(TOOLS, ToolNode::new(tools)?))
}

impl<S: HasMessages, D: Send + Sync + 'static> ToolNode<S, D> {
    /// Creates a node that runs these tools. Use [`named`] to add it to a graph.
    ///
    /// # Errors
    /// [`InvalidTools`], if two tools have the same name or a tool has a name that models do not accept.
    pub fn new(tools: Tools<S, D>) -> Result<Self, InvalidTools> {
        tools.check()?;
        Ok(Self { tools })
    }

    async fn call(&self, call: &ToolCall, state: &S, cx: &ContextWith<D>) -> Result<ToolOutput<S>> {
        let Some(tool) = self.tools.find(&call.name) else {
            let names: Vec<String> = self.tools.names().map(|name| format!("`{name}`")).collect();
            let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            let name = shortened(&call.name, MAX_ERROR_CHARS);
            let message = format!("there is no tool `{name}`; available tools: {names}");
            return Ok(ToolOutput::error(message));
        };
        let output = tool.call(ToolInvocation { call, state, cx });
        match spans::tool(tool, call, cx.thread(), output).await {
            Err(error) if error.downcast_ref::<Fatal>().is_none() => {
                let text = error_text(error.as_error());
                Ok(ToolOutput::error(shortened(&text, MAX_TOOL_ERROR_CHARS).into_owned()))
            }
            result => result,
        }
    }
}

impl<S: HasMessages, D: Send + Sync + 'static> PacketNode<ContextWith<D>> for ToolNode<S, D> {
    type Reads = S;
    type Packet = ToolRequest;
    type Output = Result<S::Update>;

    async fn run(&self, state: &S, request: &ToolRequest, cx: &ContextWith<D>) -> Result<S::Update> {
        let (id, name, output) = match request {
            ToolRequest::Call(call) => (&call.id, &call.name, self.call(call, state, cx).await?),
            ToolRequest::Invalid(call) => {
                let reason = call.error.as_deref().unwrap_or("they are not a JSON object");
                let [name, reason] = [&call.name, reason].map(|text| shortened(text, MAX_ERROR_CHARS));
                let message = format!("the arguments of `{name}` cannot be read: {reason}");
                (&call.id, &call.name, ToolOutput::error(message))
            }
        };
        let ToolOutput { content, artifact, status, update } = output;
        let mut message = ToolMessage::new(id, content).name(shortened(name, MAX_ERROR_CHARS));
        message.status = status;
        // A stored `Some(null)` would be read back as `None`.
        message.artifact = artifact.filter(|artifact| !artifact.is_null());
        let messages = S::update_messages(MessagesUpdate::from_iter([message]));
        Ok(match update {
            Some(update) => messages.and(update),
            None => messages,
        })
    }
}

impl<S: GraphState, D> std::fmt::Debug for ToolNode<S, D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ToolNode").field(&self.tools).finish()
    }
}

/// The maximum number of characters of a tool's error that the model gets.
const MAX_TOOL_ERROR_CHARS: usize = 10_000;
