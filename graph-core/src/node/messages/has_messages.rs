use std::any::Any;

use crate::messages::{Message, MessagesState, MessagesUpdate};
use crate::node::{IsState, StateOrPacket};
use crate::state::{GraphState, Holds};
use crate::step::IntoStep;

/// A state that contains one conversation.
///
/// The derive implements it for a state with exactly one `add_messages` field, and for a state that [`MessagesState`]
/// is flattened into. For a state with several such fields, implement it by hand.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a state with one list of messages",
    label = "needs exactly one field `#[state(reducer = add_messages)]`",
    note = "flatten a `MessagesState` into the state, give it one field `#[state(reducer = add_messages)] messages: Vec<Message>`, or implement `HasMessages` for it"
)]
pub trait HasMessages:
    GraphState<Update: IntoStep<Self>>
    + StateOrPacket<Role = IsState>
    + Holds<Self, Part = <Self as GraphState>::Update>
{
    /// Returns the conversation.
    fn messages(&self) -> &[Message];

    /// Returns an update of the conversation.
    fn update_messages(update: MessagesUpdate) -> Self::Update;
}

#[diagnostic::do_not_recommend]
impl<S> HasMessages for S
where
    S: GraphState<Update: IntoStep<S>>
        + StateOrPacket<Role = IsState>
        + Holds<S, Part = <S as GraphState>::Update>
        + Holds<MessagesState, Part = <MessagesState as GraphState>::Update>,
{
    fn messages(&self) -> &[Message] {
        &Holds::<MessagesState>::held(self).messages
    }

    fn update_messages(update: MessagesUpdate) -> S::Update {
        <S as Holds<MessagesState>>::lift(MessagesState::update().messages(update))
    }
}

/// Returns the conversation in an `add_messages` field, for generated code. The type is checked at run time, where it
/// always fits. A static bound would add a second compiler error when the field has a type that the reducer cannot
/// fold.
pub fn conversation<T: 'static>(field: &T) -> &[Message] {
    (field as &dyn Any).downcast_ref::<Vec<Message>>().map_or(&[], Vec::as_slice)
}
