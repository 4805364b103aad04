//! What a schema says of messages.

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
            "description": "A text, or blocks of text, images and other things.",
            "anyOf": [
                {"type": "string"},
                {"type": "array", "items": {"type": "object", "required": ["type"], "properties": {"type": {"type": "string"}}}},
            ],
        });
        let calls = json_schema!({
            "description": "The tools that a model wants called.",
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
                "tool_call_id": {"description": "The call that a tool's message answers.", "type": "string"},
                "status": {"enum": ["success", "error"]},
            },
        });
        if written {
            return of_type;
        }
        let content = of_type.get("properties").and_then(|properties| properties.get("content")).cloned();
        json_schema!({
            "description": "What was said: by a person, if it is a text.",
            "anyOf": [
                of_type,
                {
                    "description": "In the form of chat endpoints.",
                    "type": "object",
                    "required": ["role"],
                    "properties": {
                        "role": {"enum": ["user", "assistant", "tool", "system", "developer", "human", "ai"]},
                        "content": content,
                    },
                },
                {"type": "string"},
                {"description": "Role and content.", "type": "array", "minItems": 2, "maxItems": 2},
            ],
        })
    }
}

/// What an input gives: messages. What only an update may say is no part of it.
impl JsonSchema for MessagesUpdate {
    fn schema_name() -> Cow<'static, str> {
        "MessagesUpdate".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let message = generator.subschema_for::<Message>();
        json_schema!({"anyOf": [{"type": "array", "items": message.clone()}, message]})
    }
}
