use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Number, Value, json};

use super::{TaskId, Version};
use crate::protocol::schema::component;
use crate::protocol::{Fields, Object, Place, Problems, Read};

/// The author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    User,
    Agent,
}

/// A part of a message or an artifact.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Part {
    Text(String),
    /// JSON. Version 0.3 knows only objects.
    Data(Value),
    /// A file or its address. The server does not read it.
    File,
}

/// A message.
#[derive(Clone, Debug, PartialEq, JsonSchema)]
pub(crate) struct Message {
    /// The id, which the client chooses.
    #[schemars(rename = "messageId")]
    pub(crate) id: String,
    /// The author: `user` or `agent`, in version 1.0 `ROLE_USER` or `ROLE_AGENT`.
    #[schemars(with = "String")]
    pub(crate) role: Role,
    /// The text and the data.
    #[schemars(with = "Vec<Value>")]
    pub(crate) parts: Vec<Part>,
}

impl Message {
    /// Returns a message of the agent.
    pub(crate) fn of_agent(id: String, part: Part) -> Self {
        Self { id, role: Role::Agent, parts: vec![part] }
    }

    /// Returns the text, or `None` if no part is text.
    pub(crate) fn text(&self) -> Option<String> {
        let texts = self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        });
        let texts: Vec<_> = texts.collect();
        (!texts.is_empty()).then(|| texts.join("\n"))
    }

    /// Returns the JSON of the parts that have some.
    pub(crate) fn data(&self) -> impl Iterator<Item = &Value> {
        self.parts.iter().filter_map(|part| match part {
            Part::Data(data) => Some(data),
            _ => None,
        })
    }

    pub(crate) fn has_files(&self) -> bool {
        self.parts.contains(&Part::File)
    }

    pub(crate) fn to_json(&self, task: &TaskId, version: Version) -> Value {
        let role = match (self.role, version) {
            (Role::User, Version::V0_3) => "user",
            (Role::Agent, Version::V0_3) => "agent",
            (Role::User, Version::V1_0) => "ROLE_USER",
            (Role::Agent, Version::V1_0) => "ROLE_AGENT",
        };
        let mut message = json!({
            "messageId": self.id,
            "role": role,
            "parts": self.parts.iter().map(|part| part.to_json(version)).collect::<Vec<_>>(),
            "taskId": task.to_string(),
            "contextId": task.thread,
        });
        add_kind(&mut message, "message", version);
        message
    }
}

/// Adds the type of an object, which version 0.3 writes into the object.
pub(super) fn add_kind(object: &mut Value, kind: &str, version: Version) {
    if let (Version::V0_3, Value::Object(fields)) = (version, object) {
        fields.insert("kind".to_owned(), kind.into());
    }
}

impl Part {
    pub(super) fn to_json(&self, version: Version) -> Value {
        let (kind, mut part) = match self {
            Self::Text(text) => ("text", json!({ "text": text })),
            Self::Data(data) if version == Version::V1_0 || data.is_object() => {
                ("data", json!({ "data": data }))
            }
            Self::Data(data) => ("data", json!({ "data": { "value": data } })),
            Self::File => ("file", json!({})),
        };
        add_kind(&mut part, kind, version);
        part
    }
}

impl Read for Message {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        Self::of(&mut Fields::of(value, at, problems)?)
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        component::<Self>(generator)
    }
}

impl Message {
    /// Reads a message in either version.
    pub(super) fn of(fields: &mut Fields<'_>) -> Option<Self> {
        let id = fields.required::<String>("messageId");
        let parts = fields.required::<Vec<Part>>("parts");
        if parts.as_ref().is_some_and(Vec::is_empty) {
            fields.refuse("parts", "expected at least one part");
        }
        let role = match fields.required::<String>("role")?.as_str() {
            "user" | "ROLE_USER" => Role::User,
            "agent" | "ROLE_AGENT" => Role::Agent,
            _ => {
                fields.refuse(
                    "role",
                    "expected `user` or `agent`, or in version 1.0 `ROLE_USER` or `ROLE_AGENT`",
                );
                return None;
            }
        };
        Some(Self { id: id?, role, parts: parts? })
    }
}

impl Read for Part {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = Fields::of(value, at, problems)?;
        let (text, data) = (fields.raw("text"), fields.raw("data"));
        match (text, data) {
            (Some(Value::String(text)), None) => Some(Self::Text(text)),
            (None, Some(data)) => Some(Self::Data(with_integers(data))),
            (None, None) if ["file", "raw", "url"].iter().any(|kind| fields.raw(kind).is_some()) => {
                Some(Self::File)
            }
            _ => {
                problems.add(at, "expected a part with a string `text` or with `data`");
                None
            }
        }
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "properties": { "text": { "type": "string" }, "data": {} },
            "anyOf": [{ "required": ["text"] }, { "required": ["data"] }],
        })
    }
}

/// The greatest integer up to which every integer is a 64-bit float.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Returns JSON whose whole numbers are integers. Clients of version 1.0 send every number as a float.
fn with_integers(value: Value) -> Value {
    match value {
        Value::Number(number) => Value::Number(integer(&number).unwrap_or(number)),
        Value::Array(items) => items.into_iter().map(with_integers).collect(),
        Value::Object(fields) => {
            let fields: Object =
                fields.into_iter().map(|(name, value)| (name, with_integers(value))).collect();
            Value::Object(fields)
        }
        other => other,
    }
}

fn integer(number: &Number) -> Option<Number> {
    if !number.is_f64() {
        return None;
    }
    let float = number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() <= EXACT)?;
    // Written without a fraction, it is read as an integer.
    format!("{float:.0}").parse::<i64>().ok().map(Number::from)
}

/// Merges the data parts of a message to one object.
///
/// # Errors
/// A part that is not an object.
pub(crate) fn merged<'d>(data: impl Iterator<Item = &'d Value>) -> Result<Object, &'static str> {
    let mut merged = Map::new();
    for part in data {
        match part {
            Value::Object(fields) => merged.extend(fields.clone()),
            _ => return Err("a data part of an input is an object"),
        }
    }
    Ok(merged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::read_body;

    #[track_caller]
    fn check(part: Value, expected: Option<Part>) {
        assert_eq!(read_body::<Part>(part).ok(), expected);
    }

    #[test]
    fn parts_of_both_versions_are_read() {
        check(json!({ "kind": "text", "text": "a" }), Some(Part::Text("a".to_owned())));
        check(json!({ "text": "a" }), Some(Part::Text("a".to_owned())));
        check(json!({ "kind": "data", "data": { "n": 1 } }), Some(Part::Data(json!({ "n": 1 }))));
        check(
            json!({ "data": { "n": [10.0, 1.5, -0.0, 1e300] } }),
            Some(Part::Data(json!({ "n": [10, 1.5, 0, 1e300] }))),
        );
        check(json!({ "data": false }), Some(Part::Data(json!(false))));
        check(json!({ "url": "https://example.org/a.png" }), Some(Part::File));
        check(json!({ "kind": "file", "file": {} }), Some(Part::File));
        check(json!({ "kind": "text" }), None);
        check(json!({ "text": 5 }), None);
        check(json!({ "text": "a", "data": {} }), None);
    }
}
