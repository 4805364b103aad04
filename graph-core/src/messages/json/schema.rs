//! The JSON Schema of messages.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::messages::{Message, MessagesUpdate};

impl JsonSchema for Message {
    fn schema_name() -> Cow<'static, str> {
        "Message".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let written = generator.contract().is_serialize();
        let types = ["human", "ai", "tool", "system"];
        let content = json_schema!({
            "description": "A string, or blocks of text, images and other parts.",
            "anyOf": [
                {"type": "string"},
                {"type": "array", "items": {"type": "object", "required": ["type"], "properties": {"type": {"type": "string"}}}},
            ],
        });
        let calls = json_schema!({
            "description": "The tool calls that a model asks for.",
            "type": "array",
            "items": {
                "type": "object",
                "required": ["name", "args", "id"],
                "properties": {
                    "name": {"type": "string"}, "args": {"type": "object"}, "id": {"type": ["string", "null"]},
                },
            },
        });
        let of_type = json_schema!({
            "type": "object",
            "required": ["type", "content"],
            "properties": {
                "type": {"enum": types},
                "content": content,
                "id": {"type": ["string", "null"]},
                "name": {"type": ["string", "null"]},
                "tool_calls": calls,
                "tool_call_id": {"description": "The id of the call that a tool message answers.", "type": "string"},
                "status": {"enum": ["success", "error"]},
            },
        });
        if written {
            return of_type;
        }
        let content = of_type.get("properties").and_then(|properties| properties.get("content")).cloned();
        json_schema!({
            "description": "A message. A string is a message from a person.",
            "anyOf": [
                of_type,
                {
                    "description": "The format of chat endpoints.",
                    "type": "object",
                    "required": ["role"],
                    "properties": {
                        "role": {"enum": ["user", "assistant", "tool", "system", "developer", "human", "ai"]},
                        "content": content,
                    },
                },
                {"type": "string"},
                {"description": "A pair of role and content.", "type": "array", "minItems": 2, "maxItems": 2},
            ],
        })
    }
}

/// Describes an input, which contains messages and no removals.
impl JsonSchema for MessagesUpdate {
    fn schema_name() -> Cow<'static, str> {
        "MessagesUpdate".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let message = generator.subschema_for::<Message>();
        json_schema!({"anyOf": [{"type": "array", "items": message.clone()}, message]})
    }
}
