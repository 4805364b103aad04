use std::time::Duration;

use serde_json::{Map, Value};
use thiserror::Error;

use crate::shortened::shortened;

use super::ModelError;
use super::endpoint::Endpoint;

/// The reason why a reply is invalid.
#[derive(Debug, Error)]
pub(super) enum InvalidReply {
    #[error("the reply is not a JSON object")]
    NotAnObject,
    #[error("the reply is not UTF-8")]
    NotText,
    #[error("the reply has no choice")]
    NoChoice,
    #[error("the choice has no message")]
    NoMessage,
    // Serde's reason would quote the message.
    #[error("the message cannot be read")]
    UnreadableMessage,
    #[error("the stream has no chunks")]
    NoChunk,
    #[error("the reply is cut off: it ends before its finish reason")]
    CutOff,
}

/// The maximum length of a provider's message in an error.
const MAX_MESSAGE_CHARS: usize = 500;

/// Converts an error of a JSON parser. It does not quote the JSON.
pub(super) fn not_json(model: &str, error: serde_json::Error) -> ModelError {
    if error.is_eof() {
        return invalid_reply(model, InvalidReply::CutOff);
    }
    ModelError::NoReply { model: model.to_owned(), source: error.into() }
}

/// Converts an HTTP error. The URL is left out, since `Debug` of the model shows it.
pub(super) fn unreachable(model: &str, error: reqwest::Error) -> ModelError {
    unreachable_because(model, error.without_url().into())
}

pub(super) fn unreachable_because(
    model: &str,
    source: Box<dyn std::error::Error + Send + Sync>,
) -> ModelError {
    ModelError::Unreachable { model: model.to_owned(), source }
}

/// Converts an invalid reply. A reply that is cut off is a broken connection; all other defects would occur again.
pub(super) fn invalid_reply(model: &str, reason: InvalidReply) -> ModelError {
    match reason {
        InvalidReply::CutOff => unreachable_because(model, reason.into()),
        reason => ModelError::NoReply { model: model.to_owned(), source: reason.into() },
    }
}

/// Returns a refusal with this status. The body may be OpenAI's error object, other JSON, or the page of a proxy.
pub(super) fn refused(
    model: &str,
    endpoint: &Endpoint,
    status: u16,
    body: &[u8],
    retry_after: Option<Duration>,
) -> ModelError {
    let error = match serde_json::from_slice(body) {
        Ok(Value::Object(body)) => {
            let nested = ProviderError::read(body.get("error").unwrap_or(&Value::Null));
            nested.or(ProviderError::read(&Value::Object(body)))
        }
        Ok(Value::String(text)) => ProviderError { message: text, ..ProviderError::default() },
        _ => {
            ProviderError { message: String::from_utf8_lossy(body).into_owned(), ..ProviderError::default() }
        }
    };
    error.into_error(model, endpoint, status, retry_after)
}

/// Returns the error object that a successful response contains instead of a reply or a chunk.
pub(super) fn error_in_reply(
    model: &str,
    endpoint: &Endpoint,
    reply: &Map<String, Value>,
) -> Option<ModelError> {
    let error = reply.get("error").filter(|error| !error.is_null())?;
    let error = ProviderError::read(error);
    let status = error.status();
    Some(error.into_error(model, endpoint, status, None))
}

/// The parts of a provider's error object.
#[derive(Default)]
struct ProviderError {
    message: String,
    /// The strings `type` and `code`.
    kinds: [String; 2],
    /// A numeric `code`.
    number: Option<u16>,
}

impl ProviderError {
    fn read(error: &Value) -> Self {
        if let Value::String(message) = error {
            return Self { message: message.clone(), ..Self::default() };
        }
        let text = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let message = ["message", "detail", "error"].map(text).into_iter().find(|text| !text.is_empty());
        let number = error.get("code").and_then(|code| match code {
            Value::String(code) => code.parse().ok(),
            code => code.as_u64().and_then(|code| u16::try_from(code).ok()),
        });
        Self { message: message.unwrap_or_default(), kinds: ["type", "code"].map(text), number }
    }

    fn or(self, other: Self) -> Self {
        if self.message.is_empty() { other } else { self }
    }

    /// Returns the HTTP status that the error would have had as a response of its own. The default is 500.
    fn status(&self) -> u16 {
        let known = |kind: &String| match kind.as_str() {
            "invalid_request_error" | "context_length_exceeded" | "content_filter" => Some(400),
            "authentication_error" | "invalid_api_key" => Some(401),
            "permission_error" => Some(403),
            "not_found_error" | "model_not_found" => Some(404),
            "rate_limit_error" | "rate_limit_exceeded" | "insufficient_quota" => Some(429),
            "overloaded_error" => Some(503),
            _ => None,
        };
        let number = self.number.filter(|number| (400..600).contains(number));
        number.or_else(|| self.kinds.iter().find_map(known)).unwrap_or(500)
    }

    fn into_error(
        self,
        model: &str,
        endpoint: &Endpoint,
        status: u16,
        retry_after: Option<Duration>,
    ) -> ModelError {
        let whole = endpoint.redact(self.message.trim());
        let message =
            if whole.is_empty() { "no reason given".into() } else { shortened(&whole, MAX_MESSAGE_CHARS) };
        let (model, message) = (model.to_owned(), message.into_owned());
        if self.kinds.iter().any(|kind| kind == "insufficient_quota") {
            return ModelError::QuotaExceeded { model, message };
        }
        ModelError::Refused { model, status, message, retry_after }
    }
}
