use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::null_is_default::null_is_default;

/// A tool call that a model asks for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolCall {
    /// The call's id, which the [answer](super::ToolMessage::tool_call_id) repeats. Empty if the server does not use
    /// ids.
    #[serde(default, deserialize_with = "null_is_default")]
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments.
    #[serde(default, deserialize_with = "null_is_default")]
    pub args: Map<String, Value>,
    /// All other fields.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl ToolCall {
    /// Creates a call without arguments.
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

    /// Adds an argument.
    pub fn arg(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.args.insert(name.into(), value.into());
        self
    }

    /// Sets all arguments.
    pub fn args(self, args: Map<String, Value>) -> Self {
        Self { args, ..self }
    }
}

/// A tool call whose arguments are not a JSON object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct InvalidToolCall {
    /// The call's id, which the answer repeats.
    #[serde(default, deserialize_with = "null_is_default")]
    pub id: String,
    /// The tool's name.
    #[serde(default, deserialize_with = "null_is_default")]
    pub name: String,
    /// The arguments as the model wrote them.
    #[serde(default, deserialize_with = "null_is_default")]
    pub args: String,
    /// The error in the arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// All other fields.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl InvalidToolCall {
    /// Creates a call with unparsed arguments.
    pub fn new(id: impl Into<String>, name: impl Into<String>, args: impl Into<String>) -> Self {
        let extra = Map::from_iter([("type".to_owned(), "invalid_tool_call".into())]);
        Self { id: id.into(), name: name.into(), args: args.into(), error: None, extra }
    }

    /// Sets the error in the arguments.
    pub fn error(self, error: impl Into<String>) -> Self {
        Self { error: Some(error.into()), ..self }
    }
}

/// Parses the arguments of a call to this tool. The error describes the problem, and does not repeat long arguments.
pub(super) fn read_arguments(tool: &str, written: &str) -> Result<Map<String, Value>, String> {
    let args = match written.trim() {
        "" | "null" => Map::new(),
        _ => serde_json::from_str(written).map_err(|error| shortened(&error.to_string()))?,
    };
    if tool.is_empty() {
        return Err("the call names no tool".to_owned());
    }
    check_depth(&args).map(|()| args)
}

/// The maximum depth of arguments. A store refuses values that are nested more than 127 deep, and a state adds levels of its own.
const MAX_DEPTH: usize = 100;

/// Checks that a message with these arguments can be stored.
pub(super) fn check_depth(args: &Map<String, Value>) -> Result<(), String> {
    fn fits(value: &Value, depth: usize) -> bool {
        let Some(inner) = depth.checked_sub(1) else {
            return !matches!(value, Value::Array(_) | Value::Object(_));
        };
        match value {
            Value::Array(list) => list.iter().all(|value| fits(value, inner)),
            Value::Object(fields) => fields.values().all(|value| fits(value, inner)),
            _ => true,
        }
    }
    let fits = args.values().all(|value| fits(value, MAX_DEPTH - 1));
    fits.then_some(()).ok_or_else(|| format!("the arguments are nested more than {MAX_DEPTH} deep"))
}

/// The maximum number of characters of an error.
const MAX_ERROR: usize = 200;

/// Shortens an error that quotes a value. Its end says which value was expected.
fn shortened(error: &str) -> String {
    let cut = |at: Option<(usize, char)>| at.map(|(at, _)| at);
    let (start, end) =
        (error.char_indices().nth(MAX_ERROR / 2), error.char_indices().nth_back(MAX_ERROR / 2));
    match (cut(start), cut(end)) {
        (Some(start), Some(end)) if start < end => {
            format!("{} … {}", error.get(..start).unwrap_or_default(), error.get(end..).unwrap_or_default())
        }
        _ => error.to_owned(),
    }
}

/// Replaces an id that a provider refuses: the same id always gets the same short string of letters and digits.
pub(super) fn short_id(id: &str) -> String {
    // FNV-1a is the same in every build, so a provider's prompt cache still matches.
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    format!("call_{:016x}", id.bytes().fold(0xcbf2_9ce4_8422_2325, mix))
}
