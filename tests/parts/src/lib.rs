//! States and nodes that know nothing of the graphs in which they will run.

use superstep::messages::Message;
use superstep::{Context, GraphState, Node, StateView};

/// A chat, to be flattened into the state of whoever has one.
#[derive(GraphState, Clone, Debug)]
pub struct Chat {
    /// What was said.
    #[state(reducer = append)]
    pub log: Vec<String>,
}

/// A node for every graph whose state holds a [`Chat`].
pub async fn greet(chat: &Chat) -> ChatUpdate {
    Chat::update().log([format!("hello, after {}", chat.log.len())])
}

/// The last line of a chat.
#[derive(StateView)]
#[view(of = Chat)]
pub struct Lines<'a> {
    /// All of them.
    pub log: &'a [String],
}

/// A node that reads a view.
pub async fn echo(lines: Lines<'_>) -> ChatUpdate {
    Chat::update().log(lines.log.last().cloned())
}

/// A node that carries what it says.
#[derive(Debug)]
pub struct Say(pub &'static str);

impl Node for Say {
    type Reads = Chat;
    type Output = ChatUpdate;

    async fn run(&self, _: &Chat, _: &Context) -> ChatUpdate {
        Chat::update().log([self.0.to_owned()])
    }
}

/// A state that flattens itself; a crate that exports one must not get into the way of others.
#[derive(GraphState, Clone, Debug)]
pub struct Talk {
    /// What it is about.
    pub topic: String,
    /// The chat.
    #[state(flatten)]
    pub chat: Chat,
}

/// A conversation, to be flattened as well.
#[derive(GraphState, Clone, Debug)]
pub struct Dialogue {
    /// What was said.
    #[state(input, reducer = add_messages)]
    pub messages: Vec<Message>,
}

/// A node that says again what was said last.
pub async fn answer(dialogue: &Dialogue) -> DialogueUpdate {
    let last = dialogue.messages.last().map(|message| format!("you said: {}", message.text()));
    Dialogue::update().messages(last.map(Message::ai))
}
