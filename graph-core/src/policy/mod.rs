//! Policies: retries and timeouts of nodes.
//!
//! A [`Policy`] limits the number of attempts of a node, and the duration of each attempt. Set it for one node with
//! [`StateGraph::policy`](crate::StateGraph::policy), or for all nodes with
//! [`StateGraph::default_policy`](crate::StateGraph::default_policy).
//!
//! ```
//! use std::time::Duration;
//!
//! use superstep::policy::{Policy, Retry};
//! use superstep::{Context, END, GraphState, Result, START, StateGraph, bail};
//!
//! #[derive(GraphState, Clone)]
//! struct Page {
//!     text: Option<String>,
//! }
//!
//! async fn fetch(_: &Page, cx: &Context) -> Result<PageUpdate> {
//!     if cx.attempt() < 3 {
//!         bail!("the server is busy");
//!     }
//!     Ok(Page::update().text("hello".to_owned()))
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> superstep::Result<()> {
//! let policy = Policy::new()
//!     .retry(Retry::attempts(3).backoff(Duration::from_millis(1)).jitter())
//!     .timeout(Duration::from_secs(10));
//! let graph =
//!     StateGraph::<Page>::new().edge(START, fetch).edge(fetch, END).policy(fetch, policy).compile()?;
//! assert_eq!(graph.run(Page::input()).await?.state().text.as_deref(), Some("hello"));
//! # Ok(())
//! # }
//! ```

#[expect(clippy::module_inception, reason = "a type lives in the file of its name")]
mod policy;
mod retry;
mod timed_out;

pub(crate) use policy::ResolvedPolicy;
pub use policy::{IntoPolicy, Policy};
pub use retry::Retry;
pub use timed_out::TimedOut;
