use async_openai::config::Config;
use reqwest::header::HeaderMap;
use secrecy::{ExposeSecret, SecretString};

/// The URL, headers and key of each request.
///
/// It replaces the client's own config, which reads the environment and panics on a key that is not a valid header value.
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

    /// Removes the key from a provider's message, since some providers repeat it.
    pub(super) fn redact_key(&self, message: &str) -> String {
        match self.key.expose_secret() {
            "" => message.to_owned(),
            key => message.replace(key, "***"),
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
