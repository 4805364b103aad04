//! A state made of states: `flatten` takes another one's fields in, and with them every node that was written for it.

use superstep::{END, GraphState, Result, START, StateGraph, StateView};

/// What a library of chat nodes would bring along.
mod chat {
    use superstep::GraphState;

    #[derive(GraphState, Clone, Debug)]
    pub(crate) struct Chat {
        #[state(reducer = append)]
        pub(crate) messages: Vec<String>,
    }

    /// It knows nothing of the states that it will be part of.
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

/// Parts of both, each checked against the state's own fields.
#[derive(StateView)]
#[view(of = Ticket)]
struct Talk<'a> {
    question: &'a str,
    #[view(from = chat.messages)]
    messages: &'a [String],
}

async fn answer(talk: Talk<'_>) -> TicketUpdate {
    let answer = format!("{} messages about {}", talk.messages.len(), talk.question);
    Ticket::update().answer(answer.as_str()).chat(Chat::update().messages([answer]))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let graph =
        StateGraph::<Ticket>::new().edge(START, greet).edge(greet, answer).edge(answer, END).compile()?;

    let ticket = graph.run(Ticket::input("rain")).await?.into_state();
    assert_eq!(ticket.answer.as_deref(), Some("1 messages about rain"));
    // In Rust it is a field, in JSON its fields are the ticket's.
    assert_eq!(ticket.chat.messages.len(), 2);
    assert_eq!(
        ticket.dump().to_string(),
        r#"{"question":"rain","answer":"1 messages about rain","messages":["hello, message number 1","1 messages about rain"]}"#
    );
    println!("{:#}", ticket.dump());
    Ok(())
}
