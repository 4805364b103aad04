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

/// Who waits at a terminal gives up sooner than a program does.
const PATIENCE: Duration = Duration::from_secs(120);

impl OpenAi {
    /// Does not connect yet.
    ///
    /// # Errors
    /// [`Error::Chat`] when there can be no such model, as where the machine has no certificates.
    pub fn new(setup: Setup) -> Result<Self, Error> {
        let Setup { endpoint, key, model } = setup;
        let builder = OpenAiModel::builder(model.as_str()).endpoint(endpoint.as_str());
        match builder.key(key.unwrap_or_default()).timeout(PATIENCE).build() {
            Ok(model) => Ok(Self { endpoint, model }),
            Err(source) => Err(Error::Chat { model, endpoint, source: source.into() }),
        }
    }

    async fn ask(&self, prompt: &Prompt) -> Result<String, Error> {
        let request =
            ChatRequest::new([Message::system(prompt.system.as_str()), Message::human(prompt.user.as_str())]);
        let reply = self.model.complete(&request).await.map_err(|error| self.failed(error))?;
        let text = reply.content.text();
        if text.trim().is_empty() { Err(self.failed("the reply is empty")) } else { Ok(text.into_owned()) }
    }

    fn failed(&self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
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
