//! JSON Schemas of states with messages.

use serde_json::{Value, json};
use superstep::GraphState;
use superstep::messages::{Message, MessagesState};
use superstep::schema::StateSchema;

#[derive(GraphState, Clone)]
#[state(schema)]
struct Support {
    #[state(flatten)]
    chat: MessagesState,
    /// Messages among the agents.
    #[state(input, reducer = add_messages)]
    aside: Option<Vec<Message>>,
}

fn message(schema: &Value) -> &Value {
    &schema["$defs"]["Message"]
}

#[test]
fn state_schema_describes_a_list_of_messages() {
    let schema = Support::state_schema();
    assert_eq!(schema["properties"]["messages"]["items"], json!({"$ref": "#/$defs/Message"}));
    assert_eq!(schema["properties"]["messages"]["description"], "The conversation so far.");
    assert_eq!(message(&schema)["properties"]["type"], json!({"enum": ["human", "ai", "tool", "system"]}));
    assert_eq!(message(&schema)["required"], json!(["type", "content"]));
}

#[test]
fn input_schema_accepts_every_message_form() {
    let schema = Support::input_schema();
    let update = &schema["$defs"]["MessagesUpdate"]["anyOf"];
    assert_eq!(update[0], json!({"type": "array", "items": {"$ref": "#/$defs/Message"}}));
    let forms = message(&schema)["anyOf"].as_array().unwrap();
    assert!(forms.contains(&json!({"type": "string"})), "{forms:?}");
    assert_eq!(schema["properties"]["aside"]["description"], "Messages among the agents.");
    assert!(!schema.to_string().contains("remove"), "an input cannot remove messages");
}
