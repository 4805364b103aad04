//! JSON-RPC 2.0, as MCP and A2A use it.

use schemars::{JsonSchema, Schema, json_schema};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// A call or a notification.
#[derive(Debug)]
pub(crate) struct RpcCall {
    /// The id, which the response repeats. `None` for a notification, which gets no response.
    pub(crate) id: Option<Value>,
    pub(crate) method: String,
    pub(crate) params: Map<String, Value>,
}

/// An error of a call.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RpcError {
    code: i32,
    message: String,
}

impl RpcError {
    /// An error of a protocol that is built on JSON-RPC.
    pub(crate) fn with_code(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// The body is not JSON.
    pub(crate) fn parse(message: impl Into<String>) -> Self {
        Self { code: -32_700, message: message.into() }
    }

    /// The body is not a call.
    pub(crate) fn request(message: impl Into<String>) -> Self {
        Self { code: -32_600, message: message.into() }
    }

    /// There is no such method.
    pub(crate) fn method(name: &str) -> Self {
        Self { code: -32_601, message: format!("there is no method `{name}`") }
    }

    /// The parameters do not fit the method.
    pub(crate) fn params(message: impl Into<String>) -> Self {
        Self { code: -32_602, message: message.into() }
    }

    /// The server has failed.
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self { code: -32_603, message: message.into() }
    }
}

impl RpcCall {
    /// Returns the schema of a call.
    pub(crate) fn schema() -> Schema {
        json_schema!({
            "type": "object",
            "properties": {
                "jsonrpc": { "const": "2.0" },
                "id": { "type": ["string", "number"], "description": "The response repeats it. A notification has none." },
                "method": { "type": "string", "description": "The name of the method." },
                "params": { "type": ["object", "null"], "description": "The parameters of the method." },
            },
            "required": ["jsonrpc", "method"],
        })
    }

    /// Reads a call. Returns `None` for a response, which a client may send and which needs no answer.
    ///
    /// # Errors
    /// The value is neither a call nor a response.
    pub(crate) fn read(value: Value) -> Result<Option<Self>, RpcError> {
        let Value::Object(mut call) = value else { return Err(RpcError::request("expected an object")) };
        if call.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return Err(RpcError::request("`jsonrpc`: expected \"2.0\""));
        }
        let id = match call.remove("id") {
            Some(id @ (Value::String(_) | Value::Number(_))) => Some(id),
            Some(_) => return Err(RpcError::request("`id`: expected a string or a number")),
            None => None,
        };
        let method = match call.remove("method") {
            Some(Value::String(method)) => method,
            None if id.is_some() && (call.contains_key("result") || call.contains_key("error")) => {
                return Ok(None);
            }
            _ => return Err(RpcError::request("`method`: expected a string")),
        };
        let params = match call.remove("params") {
            Some(Value::Object(params)) => params,
            None | Some(Value::Null) => Map::new(),
            Some(_) => return Err(RpcError::request("`params`: expected an object")),
        };
        Ok(Some(Self { id, method, params }))
    }
}

/// The response to a call: a result or an error.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RpcResponse<'r> {
    /// `2.0`.
    jsonrpc: &'static str,
    /// The id of the call. Null if it could not be read.
    id: &'r Value,
    /// The result of the method.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<RpcError>,
}

/// Returns the response to a call.
pub(crate) fn rpc_response(id: &Value, result: Result<Value, RpcError>) -> Value {
    let (result, error) = match result {
        Ok(result) => (Some(result), None),
        Err(error) => (None, Some(error)),
    };
    json!(RpcResponse { jsonrpc: "2.0", id, result, error })
}
