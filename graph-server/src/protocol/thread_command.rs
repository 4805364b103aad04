use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::outline::any_of;
use super::schema::component;
use super::{Fields, Object, Place, Problems, Read, names};

/// A command of the second version of the protocol.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ThreadCommand {
    pub(crate) id: u64,
    pub(crate) method: String,
    pub(crate) params: Object,
}

names! {
    /// The reason why a command failed.
    pub(crate) enum ErrorCode {
        /// The command or its parameters are wrong.
        InvalidArgument = "invalid_argument",
        /// The server does not have the command.
        UnknownCommand = "unknown_command",
        /// The server has failed.
        UnknownError = "unknown_error",
        /// The caller may not send the command, or not now.
        PermissionDenied = "permission_denied",
        /// No run is active.
        NoSuchRun = "no_such_run",
        /// The subscription does not exist.
        NoSuchSubscription = "no_such_subscription",
        /// No such question is open.
        NoSuchInterrupt = "no_such_interrupt",
        /// The checkpoint does not exist.
        NoSuchCheckpoint = "no_such_checkpoint",
    }
}

/// The response of a command.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum CommandResponse<'c> {
    Success(CommandSuccess),
    Failure(CommandFailure<'c>),
}

/// The failure of a command.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CommandError {
    /// The id of the command, if it could be read.
    pub(crate) id: Option<u64>,
    pub(crate) code: ErrorCode,
    pub(crate) message: String,
}

/// The response of a command that has succeeded.
#[derive(Serialize, JsonSchema)]
pub(crate) struct CommandSuccess {
    /// `success`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The id of the command.
    id: u64,
    /// The result of the method.
    result: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    meta: Option<CommandMeta>,
}

/// The place of a command among the events of the thread.
#[derive(Serialize, JsonSchema)]
struct CommandMeta {
    /// Events with greater numbers may be of the run that the command has started.
    applied_through_seq: u64,
}

/// The response of a command that has failed.
#[derive(Serialize, JsonSchema)]
pub(crate) struct CommandFailure<'c> {
    /// `error`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The id of the command. Null if it could not be read.
    id: Option<u64>,
    /// The kind of the error.
    error: ErrorCode,
    /// The text of the error.
    message: &'c str,
}

impl CommandError {
    pub(crate) fn new(id: impl Into<Option<u64>>, code: ErrorCode, message: impl Into<String>) -> Self {
        Self { id: id.into(), code, message: message.into() }
    }

    /// Returns the response.
    pub(crate) fn json(&self) -> Value {
        let Self { id, code, message } = self;
        json!(CommandFailure { kind: "error", id: *id, error: *code, message })
    }
}

impl ThreadCommand {
    /// Returns the schema of a command.
    pub(crate) fn schema() -> Schema {
        json_schema!({
            "type": "object",
            "properties": {
                "id": { "type": "integer", "minimum": 0, "description": "The response repeats it." },
                "method": { "type": "string", "description": "The name of the command." },
                "params": { "type": ["object", "null"], "description": "The parameters of the command." },
            },
            "required": ["id", "method"],
        })
    }

    /// Reads a command.
    ///
    /// # Errors
    /// The command is malformed. Without an id it cannot be answered.
    pub(crate) fn parse(text: &[u8]) -> Result<Self, CommandError> {
        let invalid = |id, message: &str| CommandError::new(id, ErrorCode::InvalidArgument, message);
        let value: Value = serde_json::from_slice(text)
            .map_err(|error| invalid(None, &format!("the command is not JSON: {error}")))?;
        let mut fields = match value {
            Value::Object(fields) => fields,
            _ => Map::new(),
        };
        let id = fields.get("id").and_then(Value::as_u64);
        let (Some(id), Some(Value::String(method))) = (id, fields.remove("method")) else {
            return Err(invalid(id, "a command needs an integer `id` and a string `method`"));
        };
        match fields.remove("params") {
            None | Some(Value::Null) => Ok(Self { id, method, params: Map::new() }),
            Some(Value::Object(params)) => Ok(Self { id, method, params }),
            Some(_) => Err(invalid(Some(id), "`params`: expected an object")),
        }
    }

    /// Returns the response of a command that has succeeded.
    pub(crate) fn success(&self, result: Value) -> Value {
        json!(CommandSuccess { kind: "success", id: self.id, result, meta: None })
    }

    /// Returns the response of a command that has started a run. Events with greater numbers may be of that run.
    pub(crate) fn success_after(&self, result: Value, seq: u64) -> Value {
        let meta = Some(CommandMeta { applied_through_seq: seq });
        json!(CommandSuccess { kind: "success", id: self.id, result, meta })
    }

    pub(crate) fn error(&self, code: ErrorCode, message: impl Into<String>) -> CommandError {
        CommandError::new(self.id, code, message)
    }
}

/// The parameters of `input.respond`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct InputRespond {
    /// The answers by the ids of their questions.
    pub(crate) answers: Object,
}

#[derive(JsonSchema)]
struct InputAnswer {
    /// The id of the question.
    interrupt_id: String,
    /// The answer.
    response: Value,
}

impl Read for InputAnswer {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = Fields::of(value, at, problems)?;
        let id = fields.required("interrupt_id");
        let response = fields.raw("response");
        if response.is_none() {
            fields.refuse("response", "required");
        }
        Some(Self { interrupt_id: id?, response: response? })
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        component::<Self>(generator)
    }
}

impl Read for InputRespond {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let answers = match value.get("responses") {
            None | Some(Value::Null) => vec![InputAnswer::read(value, at, problems)?],
            Some(_) => {
                let mut fields = Fields::of(value, at, problems)?;
                let answers = fields.required::<Vec<InputAnswer>>("responses")?;
                if answers.is_empty() {
                    fields.refuse("responses", "expected at least one answer");
                }
                answers
            }
        };
        Some(Self {
            answers: answers.into_iter().map(|answer| (answer.interrupt_id, answer.response)).collect(),
        })
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let answers = json_schema!({
            "type": "object",
            "properties": { "responses": Vec::<InputAnswer>::schema(generator) },
            "required": ["responses"],
        });
        any_of([InputAnswer::schema(generator), answers])
    }
}
