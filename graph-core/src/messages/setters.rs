use crate::reducers::Optional;
use crate::state::{Change, IntoChange};

use super::{
    AddMessages, AiMessage, Content, HumanMessage, Message, MessageUpdate, MessagesUpdate, Remove, Role,
    SystemMessage, ToolMessage,
};

/// Lets setters of message fields, optional or not, take these types.
macro_rules! setters {
    ($([$($generics:tt)*] $from:ty: $update:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($generics)*> IntoChange<AddMessages, Vec<Message>> for $from {
            fn into_change(self) -> Change<AddMessages, Vec<Message>> {
                Change::Update($update(self))
            }
        }

        #[diagnostic::do_not_recommend]
        impl<$($generics)*> IntoChange<Optional<AddMessages>, Option<Vec<Message>>> for $from {
            fn into_change(self) -> Change<Optional<AddMessages>, Option<Vec<Message>>> {
                Change::Update(Some($update(self)))
            }
        }
    )*};
}

setters! {
    [] Message: one;
    [] HumanMessage: one;
    [] AiMessage: one;
    [] ToolMessage: one;
    [] SystemMessage: one;
    [] Remove: one;
    [] MessageUpdate: one;
    [] String: one;
    [] &str: one;
    [C: Into<Content>] (Role, C): one;
    [] MessagesUpdate: std::convert::identity;
    [M: Into<MessageUpdate>] Vec<M>: MessagesUpdate::from_iter;
    [M: Into<MessageUpdate>, const N: usize] [M; N]: MessagesUpdate::from_iter;
    [M: Into<MessageUpdate>] Option<M>: MessagesUpdate::from_iter;
}

fn one(update: impl Into<MessageUpdate>) -> MessagesUpdate {
    MessagesUpdate(vec![update.into()])
}
