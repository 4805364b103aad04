//! JSON Schemas of states, inputs and outputs.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use superstep::GraphState;
use superstep::schema::StateSchema;

#[derive(GraphState, Clone)]
#[state(schema)]
struct Part {
    /// The lines of
    /// the chat.
    #[state(reducer = append)]
    lines: Vec<String>,
}

#[derive(Clone)]
struct Opaque;

fn nothing<S: serde::Serializer>(_: &u8, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_unit()
}

#[derive(GraphState, Clone)]
#[state(schema, rename_all = "camelCase")]
struct Ticket {
    /// The question.
    #[state(input)]
    the_question: String,
    #[state(input, reducer = max)]
    best: Option<u8>,
    #[state(input, exclude)]
    token: String,
    #[state(output, rename = "reply")]
    answer: Option<String>,
    #[state(untracked)]
    client: Option<Opaque>,
    #[state(serialize_with = display)]
    shown: Option<u8>,
    #[state(serialize_with = nothing)]
    custom: u8,
    scores: BTreeMap<String, bool>,
    #[state(flatten)]
    part: Part,
}

fn keys(schema: &Value) -> Vec<&str> {
    schema["properties"].as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn state_schema_describes_the_dump() {
    let schema = Ticket::state_schema();
    assert_eq!(keys(&schema), ["best", "custom", "lines", "reply", "scores", "shown", "theQuestion"]);
    assert_eq!(
        schema["properties"]["theQuestion"],
        json!({"type": "string", "description": "The question."})
    );
    assert_eq!(schema["properties"]["lines"]["description"], "The lines of\nthe chat.");
    assert_eq!(schema["properties"]["shown"], json!({"type": ["string", "null"]}));
    assert_eq!(schema["properties"]["custom"], json!({}));
    assert_eq!(schema["required"].as_array().unwrap().len(), 7);
}

#[test]
fn input_schema_lists_required_fields_and_refuses_others() {
    let schema = Ticket::input_schema();
    assert_eq!(keys(&schema), ["best", "lines", "theQuestion", "token"]);
    assert_eq!(schema["required"], json!(["theQuestion", "token"]));
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(schema["title"], "TicketInput");
}

#[test]
fn output_schema_contains_output_fields() {
    assert_eq!(keys(&Ticket::output_schema()), ["reply"]);
    assert_eq!(keys(&Part::output_schema()), ["lines"]);
}
