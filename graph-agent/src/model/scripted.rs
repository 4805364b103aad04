use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use futures_core::Stream;
use superstep::messages::{AiMessage, MessageChunk};

use super::chat_model::{ChatModel, ModelFuture, ModelStream};
use super::chunks::chunks;
use super::error::ModelError;
use super::request::ChatRequest;

/// A model for tests that returns prepared replies, one after the other.
///
/// Clones share the script and the recorded requests. Replies are streamed in small chunks, and the chunks of several tool calls
/// are interleaved, as real models do it.
///
/// ```
/// use superstep_agent::{ChatModel, ChatRequest, ScriptedModel};
/// use superstep::messages::{AiMessage, ToolCall};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = ScriptedModel::new([AiMessage::new("").call(ToolCall::new("call_1", "clock"))])
///     .reply_with(|request| AiMessage::new(format!("after {} messages", request.messages.len())));
///
/// let first = model.complete(&ChatRequest::new(["what time is it?"])).await?;
/// assert!(first.has_calls());
/// let second = model.complete(&ChatRequest::new(["what time is it?", "well?"])).await?;
/// assert_eq!(second.content, "after 2 messages");
///
/// let error = model.complete(&ChatRequest::new(["and now?"])).await.unwrap_err();
/// assert!(error.to_string().contains("the script has only 2 replies"));
/// assert_eq!(model.requests().len(), 3);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ScriptedModel {
    name: Arc<str>,
    script: Arc<Mutex<Script>>,
}

#[derive(Default)]
struct Script {
    remaining: VecDeque<Reply>,
    length: usize,
    requests: Vec<ChatRequest>,
    fallback: Option<Arc<Fallback>>,
}

/// Makes a reply after the end of the script.
type Fallback = dyn Fn(&ChatRequest) -> AiMessage + Send + Sync;

/// Makes the reply to one request.
type Reply = Box<dyn FnOnce(&ChatRequest) -> Result<AiMessage, ModelError> + Send>;

impl ScriptedModel {
    /// Creates a model that returns these replies.
    pub fn new(replies: impl IntoIterator<Item = AiMessage>) -> Self {
        let model = Self { name: Arc::from("scripted"), script: Arc::default() };
        replies.into_iter().fold(model, Self::reply)
    }

    /// Sets the name of the model, which is `scripted` by default.
    pub fn named(self, name: &str) -> Self {
        Self { name: Arc::from(name), ..self }
    }

    /// Appends a reply to the script.
    pub fn reply(self, reply: AiMessage) -> Self {
        self.push(move |_| Ok(reply))
    }

    /// Appends a reply that is computed from its request.
    pub fn reply_with(self, reply: impl FnOnce(&ChatRequest) -> AiMessage + Send + 'static) -> Self {
        self.push(move |request| Ok(reply(request)))
    }

    /// Sets the function that replies to every request after the end of the script.
    ///
    /// Use it for programs that are started several times.
    pub fn fallback(self, reply: impl Fn(&ChatRequest) -> AiMessage + Send + Sync + 'static) -> Self {
        self.with_script(|script| script.fallback = Some(Arc::new(reply)));
        self
    }

    /// Appends an error to the script.
    pub fn fail(self, error: ModelError) -> Self {
        self.push(move |_| Err(error))
    }

    fn push(
        self,
        reply: impl FnOnce(&ChatRequest) -> Result<AiMessage, ModelError> + Send + 'static,
    ) -> Self {
        self.with_script(|script| {
            script.remaining.push_back(Box::new(reply));
            script.length += 1;
        });
        self
    }

    /// Returns all requests so far, in order.
    pub fn requests(&self) -> Vec<ChatRequest> {
        self.with_script(|script| script.requests.clone())
    }

    /// Returns the number of replies left in the script.
    pub fn remaining(&self) -> usize {
        self.with_script(|script| script.remaining.len())
    }

    /// Locks the script. Foreign code never runs under the lock, so a poisoned lock still guards a valid script.
    fn with_script<T>(&self, access: impl FnOnce(&mut Script) -> T) -> T {
        access(&mut self.script.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn next(&self, request: &ChatRequest) -> Result<AiMessage, ModelError> {
        let reply = self.with_script(|script| {
            script.requests.push(request.clone());
            script.remaining.pop_front().ok_or_else(|| (script.length, script.fallback.clone()))
        });
        match reply {
            Ok(reply) => reply(request),
            Err((_, Some(fallback))) => Ok(fallback(request)),
            Err((length, None)) => Err(ModelError::InvalidRequest {
                model: self.name.as_ref().to_owned(),
                reason: format!("the script has only {length} replies"),
            }),
        }
    }
}

impl ChatModel for ScriptedModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn complete<'a>(&'a self, request: &'a ChatRequest) -> ModelFuture<'a> {
        Box::pin(async move { self.next(request) })
    }

    fn stream<'a>(&'a self, request: &'a ChatRequest) -> ModelStream<'a> {
        Box::pin(ScriptedStream::NotStarted(self, request))
    }
}

/// The stream of one reply. The reply is taken from the script at the first poll.
enum ScriptedStream<'a> {
    NotStarted(&'a ScriptedModel, &'a ChatRequest),
    Started(VecDeque<MessageChunk>),
}

impl Stream for ScriptedStream<'_> {
    type Item = Result<MessageChunk, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Self::NotStarted(model, request) = *self {
            match model.next(request) {
                Ok(reply) => *self = Self::Started(chunks(&reply)),
                Err(error) => {
                    *self = Self::Started(VecDeque::new());
                    return Poll::Ready(Some(Err(error)));
                }
            }
        }
        match &mut *self {
            Self::Started(chunks) => Poll::Ready(chunks.pop_front().map(Ok)),
            Self::NotStarted(..) => Poll::Ready(None),
        }
    }
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (requests, remaining) =
            self.with_script(|script| (script.requests.len(), script.remaining.len()));
        f.debug_struct("ScriptedModel")
            .field("name", &self.name)
            .field("requests", &requests)
            .field("remaining", &remaining)
            .finish()
    }
}

#[cfg(test)]
mod tests;
