use superstep::messages::HasMessages;
use superstep::{END, Route};

use super::ToolRequest;

/// The ways out of a node that asks a model: to the tools that it wants called, or to the end.
#[derive(Clone, Debug, Route)]
pub enum ToolRoute {
    /// A tool is called, in a task of its own.
    #[to("tools")]
    Call(ToolRequest),
    /// The model wants nothing.
    #[to(END)]
    Done,
}

/// The route after a node that asks a model: each call of the last message becomes a task of the node
/// [`tools`](super::TOOLS); without any the branch ends.
///
/// Where the graph goes on after the last answer, an enum of your own says so, and the model's node leaves supersteps for it with
/// [`steps_behind`](crate::agent::ModelNode::steps_behind):
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
