//! A strict endpoint: it refuses histories in which tool results do not directly follow their calls.

use serde_json::{Value, json};
use superstep::messages::{AiMessage, Message, ToolCall};
use superstep_agent::{ChatModel as _, ChatRequest, ModelError};

use crate::complete::says;
use crate::model;
use crate::server::{Answer, Server};

/// Starts a server that gives this answer to valid requests.
pub(crate) fn strict(answer: Answer) -> Server {
    Server::answering(move |request| match problem(&request.body) {
        Some(message) => {
            let error = json!({"message": message, "type": "invalid_request_error", "param": "messages", "code": null});
            Answer::json(400, &json!({"error": error}))
        }
        None => answer.clone(),
    })
}

/// Returns the first problem of a request.
fn problem(request: &Value) -> Option<String> {
    let messages = request["messages"].as_array().filter(|messages| !messages.is_empty());
    let Some(messages) = messages else { return Some("no messages".to_owned()) };
    let mut open: Vec<&str> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        if role == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            let Some(call) = open.iter().position(|open| *open == id) else {
                return Some(format!("message {at} answers the call `{id}`, which is not open"));
            };
            open.remove(call);
        } else if !open.is_empty() {
            return Some(format!("message {at} comes before the results of {open:?}"));
        }
        let content = &message["content"];
        match role {
            "system" | "developer" | "user" | "tool" if content.is_null() => {
                return Some(format!("message {at} is empty"));
            }
            "assistant" => match message.get("tool_calls") {
                None if content.is_null() && message.get("refusal").is_none() => {
                    return Some(format!("message {at} is empty"));
                }
                None => {}
                Some(calls) => {
                    let Some(calls) = calls.as_array().filter(|calls| !calls.is_empty()) else {
                        return Some(format!("message {at} has an empty list of calls"));
                    };
                    for call in calls {
                        let function = &call["function"];
                        let whole = call["type"] == "function" && function["name"].is_string();
                        match call["id"].as_str() {
                            Some(id) if whole && function["arguments"].is_string() && !open.contains(&id) => {
                                open.push(id)
                            }
                            _ => return Some(format!("message {at} has an invalid call: {call}")),
                        }
                    }
                }
            },
            "system" | "developer" | "user" | "tool" => {}
            other => return Some(format!("message {at} has the role `{other}`")),
        }
    }
    (!open.is_empty()).then(|| format!("the calls {open:?} have no result"))
}

fn calling(ids: &[&str]) -> Message {
    ids.iter().fold(AiMessage::new(""), |message, id| message.call(ToolCall::new(*id, "clock"))).into()
}

#[tokio::test]
async fn only_ordered_histories_are_accepted() {
    let server = strict(says("12:00"));
    let model = model(&server);
    let ask = |history: Vec<Message>| {
        let model = &model;
        async move { model.complete(&ChatRequest::new(history)).await }
    };
    let [system, human] = [Message::system("be brief"), Message::human("what time is it?")];
    let [first, second] = ["a", "b"].map(|id| Message::tool(id, "12:00"));
    for history in [
        vec![human.clone()],
        vec![
            system,
            human.clone(),
            calling(&["a", "b"]),
            second.clone(),
            first.clone(),
            Message::ai("Noon."),
            human.clone(),
        ],
        vec![human.clone(), human.clone(), calling(&["a"]), first.clone(), calling(&["b"]), second.clone()],
    ] {
        assert_eq!(ask(history).await.unwrap().content, "12:00");
    }
    for history in [
        vec![],
        vec![human.clone(), calling(&["a"])],
        vec![human.clone(), calling(&["a", "b"]), first.clone()],
        vec![human.clone(), calling(&["a"]), human.clone(), first.clone()],
        vec![human.clone(), first.clone()],
        vec![human.clone(), calling(&["a"]), first.clone(), first.clone()],
        vec![human.clone(), calling(&["a", "a"]), first.clone(), first.clone()],
    ] {
        let error = ask(history.clone()).await.unwrap_err();
        assert!(matches!(error, ModelError::Refused { status: 400, .. }), "{history:?}: {error}");
    }
    assert_eq!(server.requests().len(), 3 + 7, "permanent refusals are not retried");
}
