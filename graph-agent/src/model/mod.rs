//! Language models: what one [is](crate::ChatModel), and is [asked](crate::ChatRequest).
//!
//! A model is asked for a whole reply, or for its pieces while it writes them. A node takes the pieces if somebody listens, and
//! hands them on:
//!
//! ```
//! use std::future::poll_fn;
//! use std::sync::Arc;
//!
//! use superstep_agent::{ChatModel, ChatRequest, ScriptedModel};
//! use superstep::messages::{AiMessage, Assembly, Message, MessagesState, MessagesStateUpdate};
//! use superstep::{ContextWith, END, EventKind, Result, START, StateGraph, StreamMode};
//!
//! async fn reply(chat: &MessagesState, cx: &ContextWith<Arc<dyn ChatModel>>) -> Result<MessagesStateUpdate> {
//!     let (model, request) = (cx.context(), ChatRequest::new(chat.messages.clone()));
//!     let reply = if cx.wants_tokens() {
//!         let (mut pieces, mut whole) = (model.stream(&request), Assembly::default());
//!         while let Some(piece) = poll_fn(|cx| pieces.as_mut().poll_next(cx)).await {
//!             let piece = piece?;
//!             whole.push(&piece);
//!             cx.token(piece).await;
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
//! let mut heard = Vec::new();
//! let outcome = run.events([StreamMode::Messages]).stream().for_each(|event| {
//!     if let EventKind::Message { chunk, .. } = &event.kind {
//!         heard.push(chunk.text.clone());
//!     }
//! });
//! assert_eq!(outcome.await?.state().messages[1].text(), "Good morning.");
//! assert_eq!(heard.concat(), "Good morning.");
//! assert!(heard.len() > 3);
//! # Ok(())
//! # }
//! ```

pub(crate) mod chat_model;
pub(crate) mod error;
#[cfg(feature = "openai")]
pub(crate) mod openai;
mod pieces;
pub(crate) mod request;
pub(crate) mod scripted;
