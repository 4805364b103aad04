//! States and nodes for the graphs of other crates.

use superstep::messages::Message;
use superstep::{Context, GraphState, Node, StateView};

/// A chat that other states flatten.
#[derive(GraphState, Clone, Debug)]
pub struct Chat {
    /// The lines of the chat.
    #[state(reducer = append)]
    pub log: Vec<String>,
}

/// A node for every graph whose state contains a [`Chat`].
pub async fn greet(chat: &Chat) -> ChatUpdate {
    Chat::update().log([format!("hello, after {}", chat.log.len())])
}

/// A view of the lines of a chat.
#[derive(StateView)]
#[view(of = Chat)]
pub struct Lines<'a> {
    /// All lines.
    pub log: &'a [String],
}

/// A node that reads a view.
pub async fn echo(lines: Lines<'_>) -> ChatUpdate {
    Chat::update().log(lines.log.last().cloned())
}

/// A node that carries its line.
#[derive(Debug)]
pub struct Say(pub &'static str);

impl Node for Say {
    type Reads = Chat;
    type Output = ChatUpdate;

    async fn run(&self, _: &Chat, _: &Context) -> ChatUpdate {
        Chat::update().log([self.0.to_owned()])
    }
}

/// A state that itself flattens another state of this crate.
#[derive(GraphState, Clone, Debug)]
pub struct Talk {
    /// The topic.
    pub topic: String,
    /// The chat.
    #[state(flatten)]
    pub chat: Chat,
}

/// A conversation that other states flatten.
#[derive(GraphState, Clone, Debug)]
pub struct Dialogue {
    /// The lines of the chat.
    #[state(input, reducer = add_messages)]
    pub messages: Vec<Message>,
}

/// A node that repeats the last message.
pub async fn answer(dialogue: &Dialogue) -> DialogueUpdate {
    let last = dialogue.messages.last().map(|message| format!("you said: {}", message.text()));
    Dialogue::update().messages(last.map(Message::ai))
}
