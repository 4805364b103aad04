//! Structured output of agents.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use superstep::checkpoint::MemoryCheckpointer;
use superstep::messages::{AiMessage, Message, Usage};
use superstep::{ErrorKind, GraphState};
use superstep_agent::agent::{Agent, InvalidOutput};
use superstep_agent::{ChatRequest, ResponseSchema, ScriptedModel, ToolChoice, ToolSpec};

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
    assert_eq!(requests[1].temperature, Some(0.0), "the options reach the last request");
}

#[tokio::test]
async fn request_options_reach_the_final_answer_without_tools() {
    let model = ScriptedModel::new([r"Fine.", r#"{"stars": 9, "why": "x"}"#].map(AiMessage::new));
    let options = ChatRequest::new(["not sent"])
        .tools([ToolSpec::new("clock", "", serde_json::json!({}))])
        .tool_choice(ToolChoice::Required)
        .response_schema(ResponseSchema::new("Other", serde_json::json!({})))
        .temperature(0.5)
        .max_tokens(70)
        .with("seed", 7)
        .with("parallel_tool_calls", false);
    let agent = Agent::<Review>::new(Arc::new(model.clone())).system("Be brief.").request(options);
    let graph =
        agent.structured_output(|verdict: Verdict| Review::update().verdict(verdict)).graph().unwrap();
    graph.compile().unwrap().run(Review::input().messages("the film?")).await.unwrap();
    let [first, last] = &model.requests()[..] else { panic!() };
    assert_eq!((first.tool_choice.clone(), first.extra.len()), (ToolChoice::Required, 2));
    assert_eq!((last.temperature, last.max_tokens), (Some(0.5), Some(70)));
    assert_eq!(
        serde_json::json!(last.extra),
        serde_json::json!({"seed": 7}),
        "endpoints refuse the other field without tools"
    );
    assert_eq!((&last.tool_choice, last.tools.len()), (&ToolChoice::Auto, 0));
    assert_eq!(last.response_schema.as_ref().unwrap().name, "Verdict");
    let texts: Vec<_> = last.messages.iter().map(|message| message.text().into_owned()).collect();
    assert_eq!((texts.len(), &texts[..3]), (4, &["Be brief.", "the film?", "Fine."].map(str::to_owned)[..]));
}

fn spent(text: &str, cached: u64) -> AiMessage {
    let mut usage = Usage::new(100, 10);
    usage.extra.insert("input_token_details".to_owned(), serde_json::json!({"cache_read": cached}));
    AiMessage::new(text).usage(usage)
}

#[tokio::test]
async fn usage_of_the_final_answer_is_in_the_state() {
    let replies = [spent("Fine.", 1), spent("nine stars", 20), spent(r#"{"stars": 9, "why": "x"}"#, 300)];
    let graph = agent(&ScriptedModel::new(replies)).with_checkpointer(MemoryCheckpointer::new());
    let thread = graph.thread("t");
    let review = thread.run(Review::input().messages("the film?")).await.unwrap().into_state();
    assert_eq!(review.messages.len(), 2);
    let stored = thread.state().await.unwrap().unwrap().state.unwrap();
    for review in [review, stored] {
        let mut total = Usage::default();
        for message in &review.messages {
            if let Some(usage) = message.as_ai().and_then(|message| message.usage.as_ref()) {
                total += usage;
            }
        }
        assert_eq!((total.input_tokens, total.output_tokens, total.total_tokens), (300, 30, 330));
        assert_eq!(total.extra["input_token_details"]["cache_read"], 321);
        assert_eq!(review.messages[1].text(), "Fine.");
    }
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

    let long = "\"long ".to_owned() + &"ü".repeat(1_000_000) + "\"";
    let model = ScriptedModel::new(["Fine.", &long, &long, &long].map(AiMessage::new));
    let error = agent(&model).run(Review::input().messages("the film?")).await.unwrap_err();
    let ErrorKind::Node { first, .. } = error.kind() else { panic!("{error}") };
    assert!(first.error.to_string().chars().count() < 1000);
    let last = &model.requests()[3].messages;
    assert!(last[4].text().contains("invalid type: string") && last[4].text().chars().count() < 2000);
}
