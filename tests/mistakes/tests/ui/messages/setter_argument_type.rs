use superstep::GraphState;
use superstep::messages::{Message, Remove};

#[derive(GraphState, Clone)]
struct Chat {
    #[state(reducer = add_messages)]
    messages: Vec<Message>,
    #[state(reducer = add_messages)]
    aside: Option<Vec<Message>>,
}

fn main() {
    let chat = Chat::update();
    let chat = chat.messages("a").messages(Remove::all()).aside(Message::ai("b"));
    let chat = chat.messages(3);
    let chat = chat.messages([Some("a")]);
    let chat = chat.messages(("human", "a"));
    let chat = chat.aside(3);
    Chat::input().messages(3);
}
// mistakes: 5
