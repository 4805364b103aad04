use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::json::null_is_default;

/// A call of a tool that a model has asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolCall {
    /// What its answer refers to, empty where the server knows no ids: [`ToolMessage::tool_call_id`](super::ToolMessage::tool_call_id).
    #[serde(default, deserialize_with = "null_is_default")]
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments.
    #[serde(default, deserialize_with = "null_is_default")]
    pub args: Map<String, Value>,
    /// What else it came with.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl ToolCall {
    /// A call.
    ///
    /// ```
    /// use superstep::messages::ToolCall;
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
    #[serde(default, deserialize_with = "null_is_default")]
    pub id: String,
    /// The tool.
    #[serde(default, deserialize_with = "null_is_default")]
    pub name: String,
    /// What the model has written for its arguments.
    #[serde(default, deserialize_with = "null_is_default")]
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

/// An id in place of one that a provider refuses: short, of letters and digits, and always the same for the same.
pub(super) fn short_id(id: &str) -> String {
    // FNV-1a: it comes out the same in every build, so that what a provider has cached is found again.
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    format!("call_{:016x}", id.bytes().fold(0xcbf2_9ce4_8422_2325, mix))
}
