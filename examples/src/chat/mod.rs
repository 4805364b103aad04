//! The chat model that writes the answer, if one is configured.

#[cfg(feature = "openai")]
mod openai;
mod prompt;
mod setup;

use std::pin::Pin;

#[cfg(feature = "openai")]
pub use openai::OpenAi;
pub use prompt::Prompt;
pub use setup::Setup;

use crate::Error;

/// The future of a reply.
pub type Reply<'a> = Pin<Box<dyn Future<Output = Result<String, Error>> + Send + 'a>>;

/// A chat model.
///
/// The application context of `ask` holds a `dyn Chat`, so that tests can replace it.
pub trait Chat: Send + Sync {
    /// Returns the name of the model.
    fn model(&self) -> &str;

    /// Sends a prompt and returns the reply.
    fn reply<'a>(&'a self, prompt: &'a Prompt) -> Reply<'a>;
}
