use std::time::Duration;

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::types::chat::{
    ChatCompletionRequestSystemMessage, ChatCompletionRequestUserMessage, CreateChatCompletionRequest,
};

use super::{Chat, Prompt, Reply, Setup};
use crate::Error;

/// A model behind an OpenAI-compatible chat endpoint.
pub struct OpenAi {
    setup: Setup,
    client: Client<OpenAIConfig>,
}

/// The client itself waits for ever.
const PATIENCE: Duration = Duration::from_secs(120);

impl OpenAi {
    /// Does not connect yet.
    pub fn new(setup: Setup) -> Self {
        let key = setup.key.clone().unwrap_or_default();
        let config = OpenAIConfig::new().with_api_base(setup.endpoint.as_str()).with_api_key(key);
        Self { setup, client: Client::with_config(config) }
    }

    async fn ask(&self, prompt: &Prompt) -> Result<String, Error> {
        let request = CreateChatCompletionRequest {
            model: self.setup.model.clone(),
            messages: vec![
                ChatCompletionRequestSystemMessage::from(prompt.system.as_str()).into(),
                ChatCompletionRequestUserMessage::from(prompt.user.as_str()).into(),
            ],
            ..CreateChatCompletionRequest::default()
        };
        let response = tokio::time::timeout(PATIENCE, self.client.chat().create(request))
            .await
            .map_err(|_| self.failed(format!("no reply within {} s", PATIENCE.as_secs())))?
            .map_err(|error| self.failed(error))?;
        let text = response.choices.into_iter().find_map(|choice| choice.message.content);
        text.filter(|text| !text.trim().is_empty()).ok_or_else(|| self.failed("the reply is empty"))
    }

    fn failed(&self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
        Error::Chat {
            model: self.setup.model.clone(),
            endpoint: self.setup.endpoint.clone(),
            source: source.into(),
        }
    }
}

impl Chat for OpenAi {
    fn model(&self) -> &str {
        &self.setup.model
    }

    fn reply<'a>(&'a self, prompt: &'a Prompt) -> Reply<'a> {
        Box::pin(self.ask(prompt))
    }
}

#[cfg(test)]
mod tests;
