use async_openai::config::Config;
use reqwest::header::HeaderMap;
use secrecy::{ExposeSecret, SecretString};

/// Where requests go, and what goes with them. The client's own reads the environment, and panics on a key that no header can hold.
#[derive(Clone)]
pub(super) struct Endpoint {
    base: String,
    headers: HeaderMap,
    key: SecretString,
}

impl Endpoint {
    pub(super) fn new(base: String, headers: HeaderMap, key: &str) -> Self {
        Self { base, headers, key: SecretString::from(key) }
    }

    pub(super) fn base(&self) -> &str {
        &self.base
    }

    /// What a provider has said, without the key, which some repeat.
    pub(super) fn without_key(&self, said: &str) -> String {
        match self.key.expose_secret() {
            "" => said.to_owned(),
            key => said.replace(key, "***"),
        }
    }
}

impl Config for Endpoint {
    fn headers(&self) -> HeaderMap {
        self.headers.clone()
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    fn query(&self) -> Vec<(&str, &str)> {
        Vec::new()
    }

    fn api_base(&self) -> &str {
        &self.base
    }

    fn api_key(&self) -> &SecretString {
        &self.key
    }
}
