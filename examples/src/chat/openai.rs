use std::time::Duration;

use superstep::messages::Message;
use superstep_agent::{ChatModel as _, ChatRequest, OpenAiModel};

use super::{Chat, Prompt, Reply, Setup};
use crate::Error;

/// A model behind an OpenAI-compatible chat endpoint.
pub struct OpenAi {
    endpoint: String,
    model: OpenAiModel,
}

/// Shorter than the default, since a person waits at the terminal.
const TIMEOUT: Duration = Duration::from_secs(120);

impl OpenAi {
    /// Creates the model without connecting to it.
    ///
    /// # Errors
    /// [`Error::Chat`], if the setup is invalid or the machine has no trusted certificates.
    pub fn new(setup: Setup) -> Result<Self, Error> {
        let Setup { endpoint, key, model } = setup;
        let builder = OpenAiModel::builder(model.as_str()).endpoint(endpoint.as_str());
        match builder.key(key.unwrap_or_default()).timeout(TIMEOUT).build() {
            Ok(model) => Ok(Self { endpoint, model }),
            Err(source) => Err(Error::Chat { model, endpoint, source: source.into() }),
        }
    }

    async fn ask(&self, prompt: &Prompt) -> Result<String, Error> {
        let request =
            ChatRequest::new([Message::system(prompt.system.as_str()), Message::human(prompt.user.as_str())]);
        let reply = self.model.complete(&request).await.map_err(|error| self.error(error))?;
        let text = reply.content.text();
        if text.trim().is_empty() { Err(self.error("the reply is empty")) } else { Ok(text.into_owned()) }
    }

    fn error(&self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
        Error::Chat { model: self.model().to_owned(), endpoint: self.endpoint.clone(), source: source.into() }
    }
}

impl Chat for OpenAi {
    fn model(&self) -> &str {
        self.model.name()
    }

    fn reply<'a>(&'a self, prompt: &'a Prompt) -> Reply<'a> {
        Box::pin(self.ask(prompt))
    }
}

#[cfg(test)]
mod tests;
