use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Content;
use super::null_is_default::null_is_default;

/// The result of a [`ToolCall`](super::ToolCall).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolMessage {
    /// The content, which the model reads.
    #[serde(default)]
    pub content: Content,
    /// The id of the call.
    pub tool_call_id: String,
    /// The id of the message. `add_messages` creates a missing one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The tool's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The status of the call.
    #[serde(default, deserialize_with = "null_is_default")]
    pub status: ToolStatus,
    /// A result for the application, which the model does not see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<Value>,
    /// Fields of a provider's format.
    #[serde(default, deserialize_with = "null_is_default", skip_serializing_if = "Map::is_empty")]
    pub additional_kwargs: Map<String, Value>,
    /// Metadata from a provider.
    #[serde(default, deserialize_with = "null_is_default", skip_serializing_if = "Map::is_empty")]
    pub response_metadata: Map<String, Value>,
    /// All other fields of the JSON object.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The status of a tool call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ToolStatus {
    /// The tool succeeded.
    #[default]
    Success,
    /// The tool failed. The content describes the error.
    Error,
}

impl ToolMessage {
    /// Creates the result of the call with this id.
    pub fn new(tool_call_id: impl Into<String>, content: impl Into<Content>) -> Self {
        Self { content: content.into(), tool_call_id: tool_call_id.into(), ..Self::default() }
    }

    /// Creates the error of the call with this id.
    pub fn error(tool_call_id: impl Into<String>, content: impl Into<Content>) -> Self {
        Self { status: ToolStatus::Error, ..Self::new(tool_call_id, content) }
    }

    /// Sets the tool's name.
    pub fn name(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// Sets a result for the application, which the model does not see. A null is ignored.
    pub fn artifact(self, artifact: impl Into<Value>) -> Self {
        Self { artifact: Some(artifact.into()).filter(|artifact| !artifact.is_null()), ..self }
    }
}
