use crate::GraphState;

use super::Message;

/// A state with a conversation, to be flattened into larger states.
///
/// A node that reads `&MessagesState` works in every graph whose state contains one.
///
/// ```
/// use superstep::messages::{Message, MessagesState, MessagesStateUpdate};
/// use superstep::{END, GraphState, START, StateGraph};
///
/// #[derive(GraphState, Clone)]
/// struct Support {
///     #[state(flatten)]
///     chat: MessagesState,
///     urgent: bool,
/// }
///
/// async fn greet(_: &MessagesState) -> MessagesStateUpdate {
///     MessagesState::update().messages(Message::ai("How can I help?"))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> superstep::Result<()> {
/// let graph = StateGraph::<Support>::new().edge(START, greet).edge(greet, END).compile()?;
/// let input = Support::input().chat(MessagesState::input().messages("hello"));
/// let support = graph.run(input).await?.into_state();
/// assert_eq!(support.chat.messages.len(), 2);
/// # Ok(())
/// # }
/// ```
#[derive(GraphState, Clone, Debug, Default, PartialEq)]
#[state(crate = crate, rename_all = "snake_case")]
#[cfg_attr(feature = "schema", state(schema))]
pub struct MessagesState {
    /// The conversation so far.
    #[state(input, reducer = add_messages)]
    pub messages: Vec<Message>,
}
