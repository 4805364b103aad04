//! A chat model that writes the answer, when one is configured.

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

/// A reply on its way.
pub type Reply<'a> = Pin<Box<dyn Future<Output = Result<String, Error>> + Send + 'a>>;

/// Something that answers a prompt.
///
/// `ask` holds one as `dyn Chat` in the graph's context, so that a test can put another in its place.
pub trait Chat: Send + Sync {
    /// What the answer is credited to.
    fn model(&self) -> &str;

    /// Asks.
    fn reply<'a>(&'a self, prompt: &'a Prompt) -> Reply<'a>;
}
