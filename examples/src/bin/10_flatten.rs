//! Shows a state that contains another state: with `flatten`, nodes written for the inner state fit the outer one.
//! Run with `cargo run -p examples --bin 10_flatten`.

use superstep::{END, GraphState, Result, START, StateGraph, StateView};

/// A library of chat nodes.
mod chat {
    use superstep::GraphState;

    #[derive(GraphState, Clone, Debug)]
    pub(crate) struct Chat {
        #[state(reducer = append)]
        pub(crate) messages: Vec<String>,
    }

    /// This node knows only `Chat`, not the states that contain it.
    pub(crate) async fn greet(chat: &Chat) -> ChatUpdate {
        Chat::update().messages([format!("hello, message number {}", chat.messages.len() + 1)])
    }
}

use chat::{Chat, greet};

#[derive(GraphState, Clone, Debug)]
struct Ticket {
    #[state(input)]
    question: String,
    answer: Option<String>,
    #[state(flatten)]
    chat: Chat,
}

/// A view of fields of both states.
#[derive(StateView)]
#[view(of = Ticket)]
struct Conversation<'a> {
    question: &'a str,
    #[view(from = chat.messages)]
    messages: &'a [String],
}

async fn answer(conversation: Conversation<'_>) -> TicketUpdate {
    let answer = format!("{} message(s) about {}", conversation.messages.len(), conversation.question);
    Ticket::update().answer(answer.as_str()).chat(Chat::update().messages([answer]))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let graph =
        StateGraph::<Ticket>::new().edge(START, greet).edge(greet, answer).edge(answer, END).compile()?;

    let ticket = graph.run(Ticket::input("rain")).await?.into_state();
    assert_eq!(ticket.answer.as_deref(), Some("1 message(s) about rain"));
    // In Rust, `chat` is a field. In JSON, its fields are fields of the ticket.
    assert_eq!(ticket.chat.messages.len(), 2);
    assert_eq!(
        ticket.dump().to_string(),
        r#"{"question":"rain","answer":"1 message(s) about rain","messages":["hello, message number 1","1 message(s) about rain"]}"#
    );
    println!("{:#}", ticket.dump());
    Ok(())
}
