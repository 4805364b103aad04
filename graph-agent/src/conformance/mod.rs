//! A conformance suite for models: a test for every promise of [`ChatModel`](crate::ChatModel).
//!
//! The author of a model implements [`TestProvider`], which starts a model together with a provider that gives a prepared
//! answer, and calls a macro:
//!
//! ```
//! use std::sync::Arc;
//!
//! use superstep_agent::ScriptedModel;
//! use superstep_agent::conformance::{Answer, Delivery, TestModel, TestProvider};
//!
//! struct Scripted;
//!
//! impl TestProvider for Scripted {
//!     async fn start(&self, answer: Answer) -> Option<TestModel> {
//!         // A model behind a connection starts a server on loopback that sends `answer.reply` in its provider's format.
//!         match answer.delivery {
//!             Delivery::Whole => {
//!                 let model = ScriptedModel::new([]).fallback(move |_| answer.reply.clone());
//!                 Some(TestModel::new(Arc::new(model)))
//!             }
//!             _ => None, // this model has no connection
//!         }
//!     }
//! }
//!
//! # fn block_on<T>(_: impl Future<Output = Result<T, superstep_agent::conformance::Broken>>) -> Result<T, superstep_agent::conformance::Broken> { unimplemented!() }
//! superstep_agent::model_conformance_tests!(Scripted, run = block_on);
//! ```
//!
//! The macro creates a `#[test]` for each case. `run` executes a case on the runtime that the model needs. To run the cases
//! without `#[test]`, use [`cases`].
//!
//! A failure reports the promise, the expected result and the actual result. A provider that cannot give an answer returns
//! `None`, which skips the case. Return it only for answers that do not exist in the provider's protocol.

mod answer;
mod broken;
mod case;
mod cases;
mod expect;
mod test_provider;

pub use answer::{Answer, Delivery};
pub use broken::Broken;
pub use case::{Case, cases, run};
pub use test_provider::{TestModel, TestProvider};
