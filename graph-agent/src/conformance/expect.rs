//! Requests replies and compares them.

use std::fmt::Debug;
use std::future::poll_fn;

use superstep::messages::{AiMessage, MessageAssembler, MessageChunk};

use crate::shortened::shortened;
use crate::{ChatModel, ChatRequest, ModelError};

use super::case::Provider;
use super::{Answer, Broken, Delivery};

const MAX_SHOWN_CHARS: usize = 2_000;

/// Checks that two values are equal.
pub(super) fn same<T: PartialEq + Debug>(promise: &str, expected: T, found: T) -> Result<(), Broken> {
    if expected == found { Ok(()) } else { Err(Broken::new(promise, shown(&expected), shown(&found))) }
}

pub(super) fn shown(value: &impl Debug) -> String {
    shortened(&format!("{value:?}"), MAX_SHOWN_CHARS).into_owned()
}

pub(super) fn request() -> ChatRequest {
    ChatRequest::new(["why?"])
}

/// Requests a stream. Returns its chunks, and the error that ended it.
pub(super) async fn chunks(
    model: &dyn ChatModel,
) -> Result<(Vec<MessageChunk>, Result<(), ModelError>), Broken> {
    let request = request();
    let mut stream = model.stream(&request);
    let mut chunks = Vec::new();
    let end = loop {
        match poll_fn(|cx| stream.as_mut().poll_next(cx)).await {
            None => break Ok(()),
            Some(Ok(chunk)) => chunks.push(chunk),
            Some(Err(error)) => break Err(error),
        }
    };
    match poll_fn(|cx| stream.as_mut().poll_next(cx)).await {
        None => Ok((chunks, end)),
        Some(more) => {
            Err(Broken::new("nothing follows the end of a stream, or its error", "the end", shown(&more)))
        }
    }
}

fn assembled(chunks: &[MessageChunk]) -> AiMessage {
    let mut whole = MessageAssembler::default();
    chunks.iter().for_each(|chunk| whole.push(chunk));
    whole.finish()
}

/// Requests the answer complete and as a stream, and checks that both give the same message. Returns it, with the chunks.
///
/// Returns `None` if the provider has no such answer.
pub(super) async fn replied(
    provider: Provider<'_>,
    reply: &AiMessage,
    delivery: Delivery,
) -> Result<Option<(AiMessage, Vec<MessageChunk>)>, Broken> {
    let Some(test) = provider.start(Answer::new(reply.clone(), delivery)).await else { return Ok(None) };
    let complete = test.model.complete(&request()).await;
    let complete =
        complete.map_err(|error| Broken::new("a request gets its reply", "a reply", shown(&error)))?;
    let (chunks, end) = chunks(&*test.model).await?;
    end.map_err(|error| Broken::new("a stream gets its reply", "a reply", shown(&error)))?;
    same("a streamed reply equals the complete one", &complete, &assembled(&chunks))?;
    Ok(Some((complete, chunks)))
}

/// Checks the content and the calls of a reply, which must be those that the provider has sent.
pub(super) async fn check(
    provider: Provider<'_>,
    reply: &AiMessage,
    delivery: Delivery,
) -> Result<(), Broken> {
    if let Some((found, _)) = replied(provider, reply, delivery).await? {
        same("the content is unchanged", &reply.content, &found.content)?;
        same("the tool calls are unchanged", &reply.tool_calls, &found.tool_calls)?;
    }
    Ok(())
}
