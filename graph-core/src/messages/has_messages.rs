use crate::node::{IntoStep, IsState, StateOrPacket};
use std::any::Any;

use crate::state::{GraphState, Holds};

use super::{Message, MessagesState, MessagesUpdate};

/// A state with a conversation in it.
///
/// The derive implements it for a state with one field that `add_messages` folds, and for one that
/// [`MessagesState`] is flattened into. A state with several such fields says itself which one is meant.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a state with one list of messages",
    label = "has no field `#[state(reducer = add_messages)]`, or several",
    note = "flatten a `MessagesState` into the state, give it one field `#[state(reducer = add_messages)] messages: Vec<Message>`, or implement `HasMessages` for it"
)]
pub trait HasMessages:
    GraphState<Update: IntoStep<Self>>
    + StateOrPacket<Role = IsState>
    + Holds<Self, Part = <Self as GraphState>::Update>
{
    /// The conversation.
    fn messages(&self) -> &[Message];

    /// An update of it.
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

/// The conversation in a field that `add_messages` folds, for generated code. It asks the type when it runs, where it is known to
/// fit: of a field of another type, rustc says that the reducer cannot fold it, and nothing of what follows from that.
pub fn conversation<T: 'static>(field: &T) -> &[Message] {
    (field as &dyn Any).downcast_ref::<Vec<Message>>().map_or(&[], Vec::as_slice)
}
