//! Structured output of agents.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use superstep::messages::{AiMessage, Message};
use superstep::{ErrorKind, GraphState};
use superstep_agent::agent::{Agent, InvalidOutput};
use superstep_agent::{ChatRequest, ScriptedModel, ToolChoice};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Verdict {
    /// From 0 to 10.
    stars: u8,
    why: String,
}

#[derive(GraphState, Clone, Debug)]
struct Review {
    #[state(input, reducer = add_messages)]
    messages: Vec<Message>,
    verdict: Option<Verdict>,
}

fn agent(model: &ScriptedModel) -> superstep::Graph<Review> {
    let agent =
        Agent::<Review>::new(Arc::new(model.clone())).request(ChatRequest::default().temperature(0.0));
    agent
        .structured_output(|verdict: Verdict| Review::update().verdict(verdict))
        .graph()
        .unwrap()
        .compile()
        .unwrap()
}

#[tokio::test]
async fn agent_returns_structured_output() {
    let model = ScriptedModel::new(
        ["It is a fine film.", "```json\n{\"stars\": 9, \"why\": \"fine\"}\n```"].map(AiMessage::new),
    );
    let review = agent(&model).run(Review::input().messages("the film?")).await.unwrap().into_state();
    assert_eq!(review.verdict, Some(Verdict { stars: 9, why: "fine".to_owned() }));
    assert_eq!(review.messages.len(), 2, "the structured output is not part of the conversation");
    let requests = model.requests();
    assert_eq!((requests[0].temperature, &requests[0].response_schema), (Some(0.0), &None));
    let asked = requests[1].response_schema.as_ref().unwrap();
    assert_eq!(
        (asked.name.as_str(), &asked.schema["required"]),
        ("Verdict", &serde_json::json!(["stars", "why"]))
    );
    assert_eq!(requests[1].tool_choice, ToolChoice::Auto);
}

#[tokio::test]
async fn invalid_structured_output_is_reported_to_the_model() {
    let replies = ["Fine.", "nine stars", r#"{"stars": 900, "why": ""}"#, r#"{"stars": 9, "why": "x"}"#];
    let model = ScriptedModel::new(replies.map(AiMessage::new));
    let review = agent(&model).run(Review::input().messages("the film?")).await.unwrap().into_state();
    assert_eq!(review.verdict.unwrap().stars, 9);
    let last = &model.requests()[3].messages;
    assert_eq!(last[3].text(), "nine stars");
    assert!(last[4].text().contains("expected"), "{:?}", last[4]);
    assert!(last[6].text().contains("900"), "{:?}", last[6]);
}

#[tokio::test]
async fn repeated_invalid_output_fails_with_the_last_reply() {
    let model = ScriptedModel::new(["Fine.", "a", "b", "c"].map(AiMessage::new));
    let error = agent(&model).run(Review::input().messages("the film?")).await.unwrap_err();
    let ErrorKind::Node { first, .. } = error.kind() else { panic!("{error}") };
    let cause = first.error.downcast_ref::<InvalidOutput>().unwrap();
    assert_eq!(cause.reply, "c");
}
