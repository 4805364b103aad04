use async_openai::error::OpenAIError;
use serde_json::{Map, Value};
use thiserror::Error;

use super::ModelError;
use super::endpoint::Endpoint;

/// What is wrong with a reply.
#[derive(Debug, Error)]
pub(super) enum Fault {
    #[error("it is no object")]
    NoObject,
    #[error("it has no choice")]
    NoChoice,
    #[error("its choice has no message")]
    NoMessage,
    // Serde's reason would say what is in it.
    #[error("its message cannot be read")]
    Message,
    #[error("it is not a stream of pieces")]
    NoPiece,
    #[error("it breaks off before it says why it stops")]
    BrokenOff,
}

/// So much of what a provider has said is in an error.
const SAID: usize = 500;

/// What the client fails with, without the reply that it could not read.
pub(super) fn of(model: &str, error: OpenAIError) -> ModelError {
    match error {
        // What we have failed with ourselves, on the wire.
        OpenAIError::Boxed(error) => match error.downcast::<ModelError>() {
            Ok(error) => *error,
            Err(source) => unreachable_because(model, source),
        },
        OpenAIError::Reqwest(error) => unreachable(model, error),
        OpenAIError::StreamError(error) => unreachable_because(model, error),
        OpenAIError::JSONDeserialize(error, _) if error.is_eof() => {
            unreachable_because(model, Fault::BrokenOff.into())
        }
        OpenAIError::JSONDeserialize(error, _) => {
            ModelError::NoReply { model: model.to_owned(), source: error.into() }
        }
        OpenAIError::InvalidArgument(reason) => ModelError::Request { model: model.to_owned(), reason },
        other => ModelError::NoReply { model: model.to_owned(), source: other.into() },
    }
}

/// Without the URL, which the model's `Debug` shows.
pub(super) fn unreachable(model: &str, error: reqwest::Error) -> ModelError {
    unreachable_because(model, error.without_url().into())
}

fn unreachable_because(model: &str, source: Box<dyn std::error::Error + Send + Sync>) -> ModelError {
    ModelError::Unreachable { model: model.to_owned(), source }
}

/// A reply that breaks off is a broken connection; every other fault is the provider's, and comes again.
pub(super) fn no_reply(model: &str, fault: Fault) -> ModelError {
    match fault {
        Fault::BrokenOff => unreachable_because(model, fault.into()),
        fault => ModelError::NoReply { model: model.to_owned(), source: fault.into() },
    }
}

/// A refusal with this status, whatever its body is: OpenAI's error object, some other JSON, a page of a proxy.
pub(super) fn refused(model: &str, endpoint: &Endpoint, status: u16, body: &[u8]) -> ModelError {
    let said = match serde_json::from_slice(body) {
        Ok(Value::Object(body)) => {
            Said::of(body.get("error").unwrap_or(&Value::Null)).or(Said::of(&Value::Object(body)))
        }
        Ok(Value::String(text)) => Said { message: text, ..Said::default() },
        _ => Said { message: String::from_utf8_lossy(body).into_owned(), ..Said::default() },
    };
    said.into_error(model, endpoint, status)
}

/// An error object that comes with a success: in place of a reply, or of a piece of one.
pub(super) fn instead_of_a_reply(
    model: &str,
    endpoint: &Endpoint,
    reply: &Map<String, Value>,
) -> Option<ModelError> {
    let error = reply.get("error").filter(|error| !error.is_null())?;
    let said = Said::of(error);
    let status = said.status();
    Some(said.into_error(model, endpoint, status))
}

/// What an error object says.
#[derive(Default)]
struct Said {
    message: String,
    /// Its `type` and its `code`.
    words: [String; 2],
    number: Option<u16>,
}

impl Said {
    fn of(error: &Value) -> Self {
        if let Value::String(message) = error {
            return Self { message: message.clone(), ..Self::default() };
        }
        let text = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let message = ["message", "detail", "error"].map(text).into_iter().find(|text| !text.is_empty());
        let number = error.get("code").and_then(|code| match code {
            Value::String(code) => code.parse().ok(),
            code => code.as_u64().and_then(|code| u16::try_from(code).ok()),
        });
        Self { message: message.unwrap_or_default(), words: ["type", "code"].map(text), number }
    }

    fn or(self, other: Self) -> Self {
        if self.message.is_empty() { other } else { self }
    }

    /// The status that it would have come with, had the reply not begun. A provider that does not say why it gives up has failed
    /// itself.
    fn status(&self) -> u16 {
        let known = |word: &String| match word.as_str() {
            "invalid_request_error" | "context_length_exceeded" | "content_filter" => Some(400),
            "authentication_error" | "invalid_api_key" => Some(401),
            "permission_error" => Some(403),
            "not_found_error" | "model_not_found" => Some(404),
            "rate_limit_error" | "rate_limit_exceeded" | "insufficient_quota" => Some(429),
            "overloaded_error" => Some(503),
            _ => None,
        };
        let number = self.number.filter(|number| (400..600).contains(number));
        number.or_else(|| self.words.iter().find_map(known)).unwrap_or(500)
    }

    fn into_error(self, model: &str, endpoint: &Endpoint, status: u16) -> ModelError {
        let said = endpoint.without_key(self.message.trim());
        let mut message: String = said.chars().take(SAID).collect();
        if message.len() < said.len() {
            message.push('…');
        }
        if message.is_empty() {
            "it does not say why".clone_into(&mut message);
        }
        let model = model.to_owned();
        if self.words.iter().any(|word| word == "insufficient_quota") {
            return ModelError::QuotaExceeded { model, message };
        }
        ModelError::Refused { model, status, message }
    }
}
