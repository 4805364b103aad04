use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// A call of a tool that a model has asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolCall {
    /// What its answer refers to: [`ToolMessage::tool_call_id`](super::ToolMessage::tool_call_id).
    #[serde(default, deserialize_with = "null_is_empty")]
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments.
    #[serde(default)]
    pub args: Map<String, Value>,
    /// What else it came with.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl ToolCall {
    /// A call.
    ///
    /// ```
    /// use graph_core::messages::ToolCall;
    /// use serde_json::json;
    ///
    /// let call = ToolCall::new("call_1", "add").arg("a", 2).arg("b", json!(3));
    /// assert_eq!(call.args["b"], 3);
    /// ```
    pub fn new(id: impl Into<String>, name: impl Into<String>) -> Self {
        let extra = Map::from_iter([("type".to_owned(), "tool_call".into())]);
        Self { id: id.into(), name: name.into(), args: Map::new(), extra }
    }

    /// Gives it an argument.
    pub fn arg(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.args.insert(name.into(), value.into());
        self
    }

    /// Gives it all of its arguments.
    pub fn args(self, args: Map<String, Value>) -> Self {
        Self { args, ..self }
    }
}

/// A call whose arguments are no JSON object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct InvalidToolCall {
    /// What its answer refers to.
    #[serde(default, deserialize_with = "null_is_empty")]
    pub id: String,
    /// The tool.
    #[serde(default, deserialize_with = "null_is_empty")]
    pub name: String,
    /// What the model has written for its arguments.
    #[serde(default, deserialize_with = "null_is_empty")]
    pub args: String,
    /// What is wrong with them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What else it came with.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl InvalidToolCall {
    /// A call with these letters for arguments.
    pub fn new(id: impl Into<String>, name: impl Into<String>, args: impl Into<String>) -> Self {
        let extra = Map::from_iter([("type".to_owned(), "invalid_tool_call".into())]);
        Self { id: id.into(), name: name.into(), args: args.into(), error: None, extra }
    }

    /// Says what is wrong with them.
    pub fn error(self, error: impl Into<String>) -> Self {
        Self { error: Some(error.into()), ..self }
    }
}

/// Servers that know no ids say so with a null.
fn null_is_empty<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Option::<String>::deserialize(deserializer).map(Option::unwrap_or_default)
}
