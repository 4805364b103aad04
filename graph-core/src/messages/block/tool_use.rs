use serde_json::{Map, Value, json};

use super::{Block, object};

/// A tool call in the content.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ToolUseBlock {
    /// The call's id.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments.
    pub input: Value,
    /// All other fields.
    pub extra: Map<String, Value>,
    form: Form,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Form {
    /// `{"type": "tool_use", "input": ..}`
    #[default]
    Input,
    /// `{"type": "tool_call", "args": ..}`
    Args,
}

impl ToolUseBlock {
    /// Creates a tool call.
    pub fn new(id: impl Into<String>, name: impl Into<String>, input: impl Into<Value>) -> Self {
        Self { id: id.into(), name: name.into(), input: input.into(), ..Self::default() }
    }

    pub(super) fn to_json(&self) -> Value {
        let Self { id, name, input, extra, form } = self;
        let value = match form {
            Form::Input => json!({"type": "tool_use", "id": id, "name": name, "input": input}),
            Form::Args => json!({"type": "tool_call", "id": id, "name": name, "args": input}),
        };
        object(value, extra)
    }
}

pub(super) fn read(block: &mut Map<String, Value>, input: &str, form: Form) -> Option<Block> {
    let text = |key: &str| block.get(key)?.as_str().map(str::to_owned);
    let (id, name) = (text("id")?, text("name")?);
    let input = block.remove(input)?;
    block.remove("id");
    block.remove("name");
    Some(Block::ToolUse(ToolUseBlock { id, name, input, extra: Map::new(), form }))
}
