//! A state with messages has a JSON Schema, which says what is read and what is written.

use serde_json::{Value, json};
use superstep::GraphState;
use superstep::messages::{Message, MessagesState};
use superstep::schema::StateSchema;

#[derive(GraphState, Clone)]
#[state(schema)]
struct Support {
    #[state(flatten)]
    chat: MessagesState,
    /// What the agents say among themselves.
    #[state(input, reducer = add_messages)]
    aside: Option<Vec<Message>>,
}

fn message(schema: &Value) -> &Value {
    &schema["$defs"]["Message"]
}

#[test]
fn what_is_written_is_a_list_of_messages_of_a_type() {
    let schema = Support::state_schema();
    assert_eq!(schema["properties"]["messages"]["items"], json!({"$ref": "#/$defs/Message"}));
    assert_eq!(schema["properties"]["messages"]["description"], "The conversation so far.");
    assert_eq!(message(&schema)["properties"]["type"], json!({"enum": ["human", "ai", "tool", "system"]}));
    assert_eq!(message(&schema)["required"], json!(["type", "content"]));
}

#[test]
fn what_is_read_is_a_message_in_any_form_or_a_list_of_them() {
    let schema = Support::input_schema();
    let update = &schema["$defs"]["MessagesUpdate"]["anyOf"];
    assert_eq!(update[0], json!({"type": "array", "items": {"$ref": "#/$defs/Message"}}));
    let forms = message(&schema)["anyOf"].as_array().unwrap();
    assert!(forms.contains(&json!({"type": "string"})), "{forms:?}");
    assert_eq!(schema["properties"]["aside"]["description"], "What the agents say among themselves.");
    assert!(!schema.to_string().contains("remove"), "an input cannot");
}
