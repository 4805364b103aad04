use superstep::messages::{HasMessages, MessagesUpdate, ToolCall, ToolMessage};
use superstep::node::Named;
use superstep::state::Update;
use superstep::{ContextWith, GraphState, NodeError, PacketNode, Result, named};

use crate::spans;

use super::{BadTools, Fatal, ToolOutput, ToolRequest, Tools, Turn};

/// The name of the node that [`call_tools`](super::call_tools) leads to.
pub const TOOLS: &str = "tools";

/// A node that calls tools: each call is a task of its own, so that they run in parallel, each asks its own questions and has
/// its own durable steps, and what has finished is kept when another fails. Results come in the order of the calls.
///
/// What a model can mend is told to it, as a tool message with the status `error`: a tool that is not there, arguments that do
/// not fit, and an error of the tool. Only [`Fatal`] errors fail the node.
///
/// It writes the tool's message, and behind it what the tool wants written.
pub struct ToolNode<S: GraphState, D = ()> {
    tools: Tools<S, D>,
}

/// A [`ToolNode`] under the name that [`call_tools`](super::call_tools) leads to.
///
/// # Errors
/// Two tools have one name, or a name that models do not know.
pub fn tool_node<S: HasMessages, D: Send + Sync + 'static>(
    tools: Tools<S, D>,
) -> Result<Named<ToolNode<S, D>>, BadTools> {
    Ok(named(TOOLS, ToolNode::new(tools)?))
}

impl<S: HasMessages, D: Send + Sync + 'static> ToolNode<S, D> {
    /// A node that calls these. It is put into a graph under a name, with [`named`].
    ///
    /// # Errors
    /// Two tools have one name, or a name that models do not know.
    pub fn new(tools: Tools<S, D>) -> Result<Self, BadTools> {
        tools.check()?;
        Ok(Self { tools })
    }

    async fn call(&self, call: &ToolCall, state: &S, ctx: &ContextWith<D>) -> Result<ToolOutput<S>> {
        let Some(tool) = self.tools.named(&call.name) else {
            let known: Vec<String> = self.tools.names().map(|name| format!("`{name}`")).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Ok(ToolOutput::error(format!("there is no tool `{}`; there are: {known}", call.name)));
        };
        let output = tool.call(Turn { call, state, ctx });
        match spans::tool(tool, call, ctx.thread(), output).await {
            Err(error) if error.downcast_ref::<Fatal>().is_none() => Ok(ToolOutput::error(told(&error))),
            result => result,
        }
    }
}

impl<S: HasMessages, D: Send + Sync + 'static> PacketNode<ContextWith<D>> for ToolNode<S, D> {
    type Reads = S;
    type Packet = ToolRequest;
    type Output = Result<S::Update>;

    async fn run(&self, state: &S, request: &ToolRequest, ctx: &ContextWith<D>) -> Result<S::Update> {
        let (id, name, output) = match request {
            ToolRequest::Call(call) => (&call.id, &call.name, self.call(call, state, ctx).await?),
            ToolRequest::Invalid(call) => {
                let why = call.error.as_deref().unwrap_or("they are no JSON object");
                let told = format!("the arguments of `{}` cannot be read: {why}", call.name);
                (&call.id, &call.name, ToolOutput::error(told))
            }
        };
        let ToolOutput { content, artifact, status, update } = output;
        let mut message = ToolMessage::new(id, content).name(name);
        message.status = status;
        // Null would be read as nothing again, so that it could not be stored.
        message.artifact = artifact.filter(|artifact| !artifact.is_null());
        let told = S::update_messages(MessagesUpdate::from_iter([message]));
        Ok(match update {
            Some(update) => told.and(update),
            None => told,
        })
    }
}

impl<S: GraphState, D> std::fmt::Debug for ToolNode<S, D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ToolNode").field(&self.tools).finish()
    }
}

/// An error and its causes, for a model.
fn told(error: &NodeError) -> String {
    let mut text = error.to_string();
    let mut cause = error.as_error().source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
