//! The graph that the browser talks to.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use superstep::interrupt::Question;
use superstep::messages::{AiMessage, MessageChunk, MessagesState, MessagesStateUpdate};
use superstep::{Context, END, Route, START, StateGraph};
use superstep_server::Server;

/// Returns a server with the graph, in memory.
pub(crate) fn server() -> Server {
    let chat = StateGraph::<MessagesState>::new().edge(START, reply).node(reply).edge(decide, END).compile();
    Server::new().graph("chat", chat.unwrap())
}

/// A question in the form in which agent-chat-ui offers buttons.
#[derive(Serialize, Deserialize)]
struct Review {
    action_request: ActionRequest,
    config: Value,
    description: String,
}

#[derive(Serialize, Deserialize)]
struct ActionRequest {
    action: String,
    args: Map<String, Value>,
}

/// The answer to an action.
#[derive(Serialize, Deserialize)]
struct Decision {
    #[serde(rename = "type")]
    kind: String,
}

impl Question for Review {
    type Answer = Vec<Decision>;
}

impl Review {
    fn of(action: &str, file: &str) -> Self {
        Self {
            action_request: ActionRequest {
                action: action.to_owned(),
                args: Map::from_iter([("file".to_owned(), file.into())]),
            },
            config: json!({
                "allow_accept": true, "allow_edit": false, "allow_respond": false, "allow_ignore": false,
            }),
            description: "This cannot be undone.".to_owned(),
        }
    }
}

#[derive(Route)]
enum Next {
    #[to(decide)]
    Ask,
    #[to(END)]
    Finished,
}

/// Repeats the last message word by word. Before it deletes something, a person decides.
async fn reply(state: &MessagesState, cx: &Context) -> (MessagesStateUpdate, Next) {
    let said = state.messages.last().map(|message| message.text().into_owned()).unwrap_or_default();
    if said.starts_with("delete ") {
        // The interface shows a question below a message of the agent.
        return (say(cx, "This needs a decision.").await, Next::Ask);
    }
    let earlier = state.messages.len() - 1;
    (say(cx, &format!("You said after {earlier} earlier messages: {said}")).await, Next::Finished)
}

async fn decide(state: &MessagesState, cx: &Context) -> MessagesStateUpdate {
    let texts: Vec<_> = state.messages.iter().map(|message| message.text().into_owned()).collect();
    let file = texts.iter().rev().find_map(|text| text.strip_prefix("delete ")).unwrap_or_default();
    let decisions = cx.interrupt(Review::of("delete_file", file)).await;
    let kinds: Vec<_> = decisions.iter().map(|decision| decision.kind.as_str()).collect();
    say(cx, &format!("Decision on {file}: {}.", kinds.join(", "))).await
}

async fn say(cx: &Context, text: &str) -> MessagesStateUpdate {
    for word in text.split_inclusive(' ') {
        cx.token(MessageChunk::text(word)).await;
        // As slow as a model, so that a person sees the text grow.
        tokio::time::sleep(Duration::from_millis(60)).await;
    }
    MessagesState::update().messages(AiMessage::new(text))
}
