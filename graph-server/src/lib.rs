//! An agent server for [`superstep`] graphs. It speaks the protocol of the official LangGraph clients.
//!
//! A [`Server`] serves any number of graphs, each with its own state and context. It stores threads and runs, executes runs
//! one after the other on each thread, and streams their events. Applications need no code for any of it.
//!
//! ```
//! use superstep::{END, GraphState, START, StateGraph};
//! use superstep_server::Server;
//!
//! #[derive(GraphState, Clone)]
//! struct Echo {
//!     #[state(input)]
//!     said: String,
//!     answer: String,
//! }
//!
//! async fn answer(echo: &Echo) -> EchoUpdate {
//!     Echo::update().answer(format!("you said {}", echo.said))
//! }
//!
//! # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
//! let graph = StateGraph::<Echo>::new().edge(START, answer).edge(answer, END).compile()?;
//! Server::new().graph("echo", graph).serve("127.0.0.1:2024").await?;
//! # Ok(())
//! # }
//! ```

mod api_error;
mod app;
mod auth;
mod crons;
mod events;
mod expiry;
mod graphs;
mod http;
mod limits;
mod log;
mod metrics;
mod options;
mod protocol;
mod records;
#[cfg(test)]
mod refusing_store;
mod runs;
mod server;
mod server_error;
mod serving;
mod stream;
mod thread_life;
mod thread_status;
mod thread_stream;
#[cfg(feature = "webhooks")]
mod webhooks;
#[cfg(not(feature = "webhooks"))]
#[path = "no_webhooks.rs"]
mod webhooks;

pub use auth::{AuthError, AuthRequest, Authenticate, Identity};
pub use graphs::{ContextError, IntoServed, RunContext, Served};
pub use server::{Server, Started};
pub use server_error::ServerError;
