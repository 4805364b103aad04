//! Language models: the trait [`ChatModel`](crate::ChatModel) and its [requests](crate::ChatRequest).
//!
//! A model returns its reply as a whole or as a stream of chunks. A node requests the stream if the run wants tokens, and
//! forwards each chunk:
//!
//! ```
//! use std::future::poll_fn;
//! use std::sync::Arc;
//!
//! use superstep_agent::{ChatModel, ChatRequest, ScriptedModel};
//! use superstep::messages::{AiMessage, Message, MessageAssembler, MessagesState, MessagesStateUpdate};
//! use superstep::{ContextWith, END, EventKind, Result, START, StateGraph, StreamMode};
//!
//! async fn reply(chat: &MessagesState, cx: &ContextWith<Arc<dyn ChatModel>>) -> Result<MessagesStateUpdate> {
//!     let (model, request) = (cx.context(), ChatRequest::new(chat.messages.clone()));
//!     let reply = if cx.wants_tokens() {
//!         let (mut chunks, mut whole) = (model.stream(&request), MessageAssembler::default());
//!         while let Some(chunk) = poll_fn(|cx| chunks.as_mut().poll_next(cx)).await {
//!             let chunk = chunk?;
//!             whole.push(&chunk);
//!             cx.token(chunk).await;
//!         }
//!         whole.finish()
//!     } else {
//!         model.complete(&request).await?
//!     };
//!     Ok(MessagesState::update().messages(Message::from(reply)))
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let graph = StateGraph::<MessagesState>::with_context().edge(START, reply).edge(reply, END).compile()?;
//! let model: Arc<dyn ChatModel> = Arc::new(ScriptedModel::new([AiMessage::new("Good morning.")]));
//! let run = graph.run(MessagesState::input().messages("hello")).context(model);
//!
//! let mut tokens = Vec::new();
//! let outcome = run.events([StreamMode::Messages]).stream().for_each(|event| {
//!     if let EventKind::Message { chunk, .. } = &event.kind {
//!         tokens.push(chunk.text.clone());
//!     }
//! });
//! assert_eq!(outcome.await?.state().messages[1].text(), "Good morning.");
//! assert_eq!(tokens.concat(), "Good morning.");
//! assert!(tokens.len() > 3);
//! # Ok(())
//! # }
//! ```

pub(crate) mod chat_model;
mod chunks;
pub(crate) mod error;
#[cfg(feature = "openai")]
pub(crate) mod openai;
pub(crate) mod request;
pub(crate) mod scripted;
