use superstep::messages::HasMessages;
use superstep::{END, Route};

use super::ToolRequest;

/// The route after a node that calls a model: to the tools, or to the end.
#[derive(Clone, Debug, Route)]
pub enum ToolRoute {
    /// Runs one tool call in its own task.
    #[to("tools")]
    Call(ToolRequest),
    /// Ends the branch: the model calls no tool.
    #[to(END)]
    Done,
}

/// Routes each tool call of the last message to its own task of the node [`tools`](super::TOOLS).
///
/// Without calls the branch ends. If your graph continues after the last reply, write your own route, and reserve supersteps for
/// the nodes that follow with [`reserve_steps`](crate::agent::ModelNode::reserve_steps):
///
/// ```
/// use superstep_agent::tool::ToolRequest;
/// use superstep::messages::{HasMessages, MessagesState};
/// use superstep::Route;
///
/// # async fn review(_: &MessagesState) {}
/// #[derive(Route)]
/// enum Next {
///     #[to("tools")]
///     Call(ToolRequest),
///     #[to(review)]
///     Review,
/// }
///
/// fn next(chat: &MessagesState) -> Vec<Next> {
///     let last = chat.messages().last().and_then(|message| message.as_ai());
///     let calls: Vec<Next> = last.into_iter().flat_map(ToolRequest::of).map(Next::Call).collect();
///     if calls.is_empty() { vec![Next::Review] } else { calls }
/// }
/// ```
pub fn call_tools<S: HasMessages>(state: &S) -> Vec<ToolRoute> {
    let last = state.messages().last().and_then(|message| message.as_ai());
    let calls: Vec<ToolRoute> = last.into_iter().flat_map(ToolRequest::of).map(ToolRoute::Call).collect();
    if calls.is_empty() { vec![ToolRoute::Done] } else { calls }
}
