use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use futures_core::Stream;
use superstep::messages::{AiMessage, MessageChunk};

use super::chat_model::{ChatModel, ModelFuture, ModelStream};
use super::error::ModelError;
use super::pieces::pieces;
use super::request::ChatRequest;

/// A model that says what a test has written down for it, one reply after the other.
///
/// A clone is the same model: what one handle was asked, the other remembers. It streams its replies in small pieces, those of
/// several calls in turns, so that who reads them has to put them together.
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
/// assert!(error.to_string().contains("script of 2 replies has ended"));
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
    lines: VecDeque<Line>,
    length: usize,
    requests: Vec<ChatRequest>,
    otherwise: Option<Arc<Otherwise>>,
}

/// What a reply is made by when no line is left.
type Otherwise = dyn Fn(&ChatRequest) -> AiMessage + Send + Sync;

/// What comes of one request.
type Line = Box<dyn FnOnce(&ChatRequest) -> Result<AiMessage, ModelError> + Send>;

impl ScriptedModel {
    /// A model that gives these replies.
    pub fn new(replies: impl IntoIterator<Item = AiMessage>) -> Self {
        let model = Self { name: Arc::from("scripted"), script: Arc::default() };
        replies.into_iter().fold(model, Self::reply)
    }

    /// Calls it by another name than `scripted`.
    pub fn named(self, name: &str) -> Self {
        Self { name: Arc::from(name), ..self }
    }

    /// Then it gives this reply.
    pub fn reply(self, reply: AiMessage) -> Self {
        self.line(move |_| Ok(reply))
    }

    /// Then it gives the reply that is made of the request.
    pub fn reply_with(self, reply: impl FnOnce(&ChatRequest) -> AiMessage + Send + 'static) -> Self {
        self.line(move |request| Ok(reply(request)))
    }

    /// Whatever it is asked when the script is at its end, it gives the reply that is made of the request: for programs that
    /// are started again and again.
    pub fn otherwise(self, reply: impl Fn(&ChatRequest) -> AiMessage + Send + Sync + 'static) -> Self {
        self.script(|script| script.otherwise = Some(Arc::new(reply)));
        self
    }

    /// Then it fails.
    pub fn fail(self, error: ModelError) -> Self {
        self.line(move |_| Err(error))
    }

    fn line(self, line: impl FnOnce(&ChatRequest) -> Result<AiMessage, ModelError> + Send + 'static) -> Self {
        self.script(|script| {
            script.lines.push_back(Box::new(line));
            script.length += 1;
        });
        self
    }

    /// What it was asked so far, in that order.
    pub fn requests(&self) -> Vec<ChatRequest> {
        self.script(|script| script.requests.clone())
    }

    /// How many replies of the script have not been asked for.
    pub fn remaining(&self) -> usize {
        self.script(|script| script.lines.len())
    }

    /// No code of others runs meanwhile, so a lock that is poisoned guards a whole script.
    fn script<T>(&self, look: impl FnOnce(&mut Script) -> T) -> T {
        look(&mut self.script.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn next(&self, request: &ChatRequest) -> Result<AiMessage, ModelError> {
        let line = self.script(|script| {
            script.requests.push(request.clone());
            script.lines.pop_front().ok_or_else(|| (script.length, script.otherwise.clone()))
        });
        match line {
            Ok(line) => line(request),
            Err((_, Some(otherwise))) => Ok(otherwise(request)),
            Err((length, None)) => Err(ModelError::Request {
                model: self.name.as_ref().to_owned(),
                reason: format!("its script of {length} replies has ended"),
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
        Box::pin(Spoken::Unasked(self, request))
    }
}

/// A reply that is given piece by piece; the line is taken when the first one is asked for.
enum Spoken<'a> {
    Unasked(&'a ScriptedModel, &'a ChatRequest),
    Asked(VecDeque<MessageChunk>),
}

impl Stream for Spoken<'_> {
    type Item = Result<MessageChunk, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Self::Unasked(model, request) = *self {
            match model.next(request) {
                Ok(reply) => *self = Self::Asked(pieces(&reply)),
                Err(error) => {
                    *self = Self::Asked(VecDeque::new());
                    return Poll::Ready(Some(Err(error)));
                }
            }
        }
        match &mut *self {
            Self::Asked(pieces) => Poll::Ready(pieces.pop_front().map(Ok)),
            Self::Unasked(..) => Poll::Ready(None),
        }
    }
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (asked, remaining) = self.script(|script| (script.requests.len(), script.lines.len()));
        f.debug_struct("ScriptedModel")
            .field("name", &self.name)
            .field("asked", &asked)
            .field("remaining", &remaining)
            .finish()
    }
}

#[cfg(test)]
mod tests;
