//! Failures of a provider.

use std::time::Duration;

use superstep::messages::{AiMessage, ToolCall};

use crate::conformance::case::Provider;
use crate::conformance::expect::{chunks, request, same, shown};
use crate::conformance::{Answer, Broken, Delivery};
use crate::{ChatModel, ModelError};

/// Requests a reply that fails, complete and as a stream. Returns both errors.
async fn errors(promise: &str, model: &dyn ChatModel) -> Result<[ModelError; 2], Broken> {
    let complete = match model.complete(&request()).await {
        Err(error) => error,
        Ok(reply) => return Err(Broken::new(promise, "an error", shown(&reply))),
    };
    match chunks(model).await? {
        (_, Err(error)) => Ok([complete, error]),
        (chunks, Ok(())) => Err(Broken::new(promise, "an error at the end of the stream", shown(&chunks))),
    }
}

pub(crate) async fn reply_that_is_cut_off_is_an_error(provider: Provider<'_>) -> Result<(), Broken> {
    let promise = "a reply that is cut off is an error";
    let call = ToolCall::new("call_1", "clock").arg("zone", "Europe/Zurich");
    for reply in [AiMessage::new("Good morning, and good night."), AiMessage::new("").call(call)] {
        let Some(test) = provider.start(Answer::new(reply, Delivery::CutOff)).await else { return Ok(()) };
        for error in errors(promise, &*test.model).await? {
            if !error.is_transient() {
                let promise = "a reply that is cut off can be requested again";
                return Err(Broken::new(promise, "a transient error", shown(&error)));
            }
        }
    }
    Ok(())
}

pub(crate) async fn refusal_has_its_status_and_wait(provider: Provider<'_>) -> Result<(), Broken> {
    let retry_after = Duration::from_secs(3600);
    let refusal = Answer::new(AiMessage::new("Good morning."), Delivery::Refusal { retry_after });
    let Some(test) = provider.start(refusal).await else { return Ok(()) };
    for error in errors("a refused request is an error", &*test.model).await? {
        let ModelError::Refused { status, .. } = &error else {
            return Err(Broken::new("a refusal keeps its status", "`ModelError::Refused`", shown(&error)));
        };
        same("a refusal keeps its status", 429, *status)?;
        same("a refusal keeps the requested wait", Some(retry_after), error.retry_after())?;
    }
    Ok(())
}
