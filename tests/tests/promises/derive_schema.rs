//! A state, its input and its output have a JSON Schema that says what serializing and reading them does.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use superstep::GraphState;
use superstep::schema::StateSchema;

#[derive(GraphState, Clone)]
#[state(schema)]
struct Part {
    /// Who said
    /// what.
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
    /// What is asked.
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
fn the_states_schema_is_that_of_its_dump() {
    let schema = Ticket::state_schema();
    assert_eq!(keys(&schema), ["best", "custom", "lines", "reply", "scores", "shown", "theQuestion"]);
    assert_eq!(
        schema["properties"]["theQuestion"],
        json!({"type": "string", "description": "What is asked."})
    );
    assert_eq!(schema["properties"]["lines"]["description"], "Who said\nwhat.");
    assert_eq!(schema["properties"]["shown"], json!({"type": ["string", "null"]}));
    assert_eq!(schema["properties"]["custom"], json!({}));
    assert_eq!(schema["required"].as_array().unwrap().len(), 7);
}

#[test]
fn the_inputs_schema_says_what_is_required_and_refuses_the_rest() {
    let schema = Ticket::input_schema();
    assert_eq!(keys(&schema), ["best", "lines", "theQuestion", "token"]);
    assert_eq!(schema["required"], json!(["theQuestion", "token"]));
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(schema["title"], "TicketInput");
}

#[test]
fn the_outputs_schema_holds_the_outputs() {
    assert_eq!(keys(&Ticket::output_schema()), ["reply"]);
    assert_eq!(keys(&Part::output_schema()), ["lines"]);
}
