use std::fmt;
use std::time::Duration;

use async_openai::Client;
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};

use super::endpoint::Endpoint;
use super::wire::Wire;
use super::{ModelError, OpenAiModel};

const OPENAI: &str = "https://api.openai.com/v1";
const MODEL: &str = "gpt-4o-mini";

/// As long as OpenAI's own clients wait: a model that thinks says nothing for minutes.
const TIMEOUT: Duration = Duration::from_secs(600);

/// A server that is there answers sooner.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// How an [`OpenAiModel`] is to be reached.
///
/// ```
/// use std::time::Duration;
/// use superstep_agent::OpenAiModel;
///
/// let model = OpenAiModel::builder("qwen3")
///     .endpoint("http://localhost:8000/v1")
///     .key("secret")
///     .timeout(Duration::from_secs(60))
///     .build()?;
/// assert!(!format!("{model:?}").contains("secret"));
/// # Ok::<(), superstep_agent::ModelError>(())
/// ```
#[derive(Clone)]
pub struct OpenAiBuilder {
    model: String,
    endpoint: String,
    key: String,
    headers: Vec<(String, String)>,
    timeout: Duration,
    retries: u32,
}

impl OpenAiBuilder {
    pub(super) fn new(model: impl Into<String>) -> Self {
        Self {
            model: model.into(),
            endpoint: OPENAI.to_owned(),
            key: String::new(),
            headers: Vec::new(),
            timeout: TIMEOUT,
            retries: 2,
        }
    }

    /// What the environment says: `OPENAI_MODEL` (or `gpt-4o-mini`) at `OPENAI_BASE_URL` (or OpenAI) with the key `OPENAI_API_KEY`
    /// (or none). None when neither a base URL nor a key is given.
    pub fn from_env() -> Option<Self> {
        Self::from_vars(|name| std::env::var(name).ok())
    }

    /// The same, through `var`; one that is empty is unset.
    ///
    /// ```
    /// use superstep_agent::OpenAiBuilder;
    ///
    /// assert!(OpenAiBuilder::from_vars(|_| None).is_none());
    /// let local = OpenAiBuilder::from_vars(|name| (name == "OPENAI_BASE_URL").then(|| "http://localhost:8000/v1".to_owned()));
    /// assert!(local.expect("it has a base URL").build().is_ok());
    /// ```
    pub fn from_vars(var: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let set = |name| var(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        let (endpoint, key) = (set("OPENAI_BASE_URL"), set("OPENAI_API_KEY"));
        if endpoint.is_none() && key.is_none() {
            return None;
        }
        let builder = Self::new(set("OPENAI_MODEL").unwrap_or_else(|| MODEL.to_owned()));
        let builder = builder.endpoint(endpoint.unwrap_or_else(|| OPENAI.to_owned()));
        Some(builder.key(key.unwrap_or_default()))
    }

    /// The URL in front of `/chat/completions`; OpenAI's own if it is not said.
    pub fn endpoint(self, url: impl Into<String>) -> Self {
        Self { endpoint: url.into(), ..self }
    }

    /// The key, sent as `Authorization: Bearer ..`; servers on one's own machine want none.
    pub fn key(self, key: impl Into<String>) -> Self {
        Self { key: key.into(), ..self }
    }

    /// A further header of each request. Its value is treated like the key.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// How long to wait for a sign of life: for a whole reply, which comes at once, and for each further piece of a streamed one.
    /// Ten minutes if it is not said.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// How often a request is made again that was refused for now or did not get through; 2 if it is not said.
    pub fn retries(self, retries: u32) -> Self {
        Self { retries, ..self }
    }

    /// Makes the model. Nothing is sent yet, but the machine's certificates are read: one model is to be shared, as it keeps its
    /// connections too.
    ///
    /// # Errors
    /// [`ModelError::Setup`]: the endpoint is no URL or has a password, a key or a header is one that no request can hold, or this
    /// machine has no certificates to trust.
    pub fn build(self) -> Result<OpenAiModel, ModelError> {
        self.assembled().map_err(|reason| ModelError::Setup { model: self.model.clone(), reason })
    }

    fn assembled(&self) -> Result<OpenAiModel, String> {
        let url = self.url()?;
        let max_tokens = match url.host_str() {
            Some("api.openai.com") => "max_completion_tokens",
            _ => "max_tokens",
        };
        let base = url.as_str().trim_end_matches('/').to_owned();
        let endpoint = Endpoint::new(base, self.header_map()?, &self.key);
        let mut http = reqwest::Client::builder();
        if url.scheme() == "http" {
            // Nobody to trust, so the machine needs no certificates, and they are not read.
            http = http.tls_certs_only([]);
        }
        let http = http
            .user_agent(concat!("graph-agent/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(self.timeout.min(CONNECT_TIMEOUT))
            .read_timeout(self.timeout)
            // A conversation goes to whom it was meant for.
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| format!("no HTTP client: {error}"))?;
        let wire = Wire::new(&self.model, http.clone(), endpoint.clone(), self.retries);
        let client = Client::build(http, endpoint).with_http_service(wire);
        Ok(OpenAiModel { model: self.model.clone(), client, max_tokens })
    }

    fn url(&self) -> Result<Url, String> {
        let url =
            Url::parse(self.endpoint.trim()).map_err(|error| format!("its endpoint is no URL: {error}"))?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err("its endpoint must begin with http:// or https://".to_owned());
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("its endpoint must not have a password in it".to_owned());
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err("its endpoint must end with its path".to_owned());
        }
        Ok(url)
    }

    fn header_map(&self) -> Result<HeaderMap, String> {
        let mut headers = HeaderMap::new();
        if !self.key.is_empty() {
            if !self.key.chars().all(|letter| letter.is_ascii_graphic()) {
                return Err("its key must consist of visible ASCII letters".to_owned());
            }
            headers.insert(AUTHORIZATION, secret(&format!("Bearer {}", self.key), AUTHORIZATION.as_str())?);
        }
        for (name, value) in &self.headers {
            let header = HeaderName::from_bytes(name.as_bytes())
                .map_err(|_| format!("`{name}` is no name of a header"))?;
            headers.insert(header, secret(value, name)?);
        }
        Ok(headers)
    }
}

/// A header's value that no `Debug` shows.
fn secret(value: &str, name: &str) -> Result<HeaderValue, String> {
    let mut value =
        HeaderValue::from_str(value).map_err(|_| format!("the header `{name}` cannot hold its value"))?;
    value.set_sensitive(true);
    Ok(value)
}

impl fmt::Debug for OpenAiBuilder {
    /// Without the key, the headers, and the endpoint, which may have a password in it until it is looked at.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAiBuilder")
            .field("model", &self.model)
            .field("timeout", &self.timeout)
            .field("retries", &self.retries)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
