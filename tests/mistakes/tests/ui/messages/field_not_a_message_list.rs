use superstep::GraphState;
use superstep::messages::Message;

#[derive(GraphState, Clone)]
struct Chat {
    #[state(reducer = add_messages)]
    texts: Vec<String>,
    #[state(reducer = add_messages)]
    last: Message,
    #[state(reducer = append)]
    messages: Vec<Message>,
}

fn main() {
    Chat::update().messages(["a"]);
}
// mistakes: 3
