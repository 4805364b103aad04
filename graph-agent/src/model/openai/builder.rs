use std::fmt;
use std::time::Duration;

use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};

use super::endpoint::Endpoint;
use super::limits::Limits;
use super::sender::Sender;
use super::{ModelError, OpenAiModel, tls};

const DEFAULT_ENDPOINT: &str = "https://api.openai.com/v1";
const DEFAULT_MODEL: &str = "gpt-4o-mini";

/// The timeout of OpenAI's own clients: a reasoning model may send nothing for minutes.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(600);

/// The upper limit for connecting, which takes less time than a reply.
const MAX_CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// A builder for [`OpenAiModel`]: endpoint, key, headers, timeout, retries and limits.
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
    limits: Limits,
}

impl OpenAiBuilder {
    pub(super) fn new(model: impl Into<String>) -> Self {
        Self {
            model: model.into(),
            endpoint: DEFAULT_ENDPOINT.to_owned(),
            key: String::new(),
            headers: Vec::new(),
            timeout: DEFAULT_TIMEOUT,
            retries: 2,
            limits: Limits::DEFAULT,
        }
    }

    /// Reads the configuration from environment variables.
    ///
    /// | variable | meaning | default |
    /// |---|---|---|
    /// | `OPENAI_MODEL` | the name of the model | `gpt-4o-mini` |
    /// | `OPENAI_BASE_URL` | the endpoint | OpenAI |
    /// | `OPENAI_API_KEY` | the key | no key |
    ///
    /// Returns `None` if neither a base URL nor a key is set.
    pub fn from_env() -> Option<Self> {
        Self::from_vars(|name| std::env::var(name).ok())
    }

    /// Reads the same variables as [`from_env`](Self::from_env) through `var`. An empty variable counts as unset.
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
        let builder = Self::new(set("OPENAI_MODEL").unwrap_or_else(|| DEFAULT_MODEL.to_owned()));
        let builder = builder.endpoint(endpoint.unwrap_or_else(|| DEFAULT_ENDPOINT.to_owned()));
        Some(builder.key(key.unwrap_or_default()))
    }

    /// Sets the URL before `/chat/completions`. The default is OpenAI's.
    pub fn endpoint(self, url: impl Into<String>) -> Self {
        Self { endpoint: url.into(), ..self }
    }

    /// Sets the key, which is sent as `Authorization: Bearer ..`. Local servers usually need no key.
    pub fn key(self, key: impl Into<String>) -> Self {
        Self { key: key.into(), ..self }
    }

    /// Adds a header to each request. Like the key, its value is never shown.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sets the longest wait for data from the server. The default is ten minutes.
    ///
    /// For a complete reply this is the wait for the reply, which arrives at once. For a streamed reply it is the wait for each
    /// chunk.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Sets the maximum number of retries after a temporary refusal or a failed connection. The default is 2.
    pub fn max_retries(self, retries: u32) -> Self {
        Self { retries, ..self }
    }

    /// Sets the maximum size of a reply in bytes: of a complete reply, or of all events of a streamed one.
    ///
    /// The default is 64 MiB. A larger reply fails with [`ModelError::ReplyTooLarge`], and its connection is closed. A streamed
    /// reply takes a few hundred bytes for each token; raise the limit if you request `logprobs`.
    pub fn max_reply_size(mut self, bytes: usize) -> Self {
        self.limits.reply = bytes;
        self
    }

    /// Sets the maximum size of one event of a streamed reply in bytes. The default is 16 MiB.
    ///
    /// A larger event fails with [`ModelError::ReplyTooLarge`]. The size includes the comments before the event, but no line ends.
    pub fn max_event_size(mut self, bytes: usize) -> Self {
        self.limits.event = bytes;
        self
    }

    /// Builds the model. This reads the machine's certificates, but sends nothing.
    ///
    /// Build a model once and share it: it also keeps its connections.
    ///
    /// # Errors
    /// [`ModelError::InvalidConfig`], if
    ///
    /// - the endpoint is not a URL, contains a password, or has a query,
    /// - the key or a header contains characters that HTTP does not allow,
    /// - the machine has no trusted certificates.
    pub fn build(self) -> Result<OpenAiModel, ModelError> {
        self.try_build().map_err(|reason| ModelError::InvalidConfig { model: self.model.clone(), reason })
    }

    fn try_build(&self) -> Result<OpenAiModel, String> {
        let url = self.url()?;
        let max_tokens = match url.host_str() {
            Some("api.openai.com") => "max_completion_tokens",
            _ => "max_tokens",
        };
        let secrets = self.headers.iter().map(|(_, value)| value.as_str()).chain([self.key.as_str()]);
        let endpoint = Endpoint::new(url.clone(), self.header_map()?, secrets);
        let tls = if url.scheme() == "http" { tls::none() } else { tls::of_machine() };
        let tls = tls.map_err(|error| format!("TLS cannot be used: {error}"))?;
        let http = reqwest::Client::builder()
            .tls_backend_preconfigured(tls)
            .user_agent(concat!("superstep-agent/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(self.timeout.min(MAX_CONNECT_TIMEOUT))
            .read_timeout(self.timeout)
            // A redirect would send the conversation and the key to another host.
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| format!("the HTTP client cannot be created: {error}"))?;
        let sender = Sender { model: self.model.clone(), http, endpoint, retries: self.retries };
        Ok(OpenAiModel { model: self.model.clone(), sender, limits: self.limits, max_tokens })
    }

    fn url(&self) -> Result<Url, String> {
        let url = Url::parse(self.endpoint.trim())
            .map_err(|error| format!("the endpoint is not a URL: {error}"))?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err("the endpoint must begin with http:// or https://".to_owned());
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(
                "the endpoint must not contain a user name or password: use the key or a header".to_owned()
            );
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err("the endpoint must not have a query or a fragment".to_owned());
        }
        Ok(url)
    }

    fn header_map(&self) -> Result<HeaderMap, String> {
        let mut headers = HeaderMap::new();
        if !self.key.is_empty() {
            if !self.key.chars().all(|char| char.is_ascii_graphic()) {
                return Err("the key must consist of visible ASCII characters".to_owned());
            }
            headers.insert(AUTHORIZATION, secret(&format!("Bearer {}", self.key), AUTHORIZATION.as_str())?);
        }
        for (name, value) in &self.headers {
            let header = HeaderName::from_bytes(name.as_bytes())
                .map_err(|_| format!("`{name}` is not a valid header name"))?;
            headers.insert(header, secret(value, name)?);
        }
        Ok(headers)
    }
}

/// Creates a header value that `Debug` does not show.
fn secret(value: &str, name: &str) -> Result<HeaderValue, String> {
    let mut value =
        HeaderValue::from_str(value).map_err(|_| format!("the value of the header `{name}` is not valid"))?;
    value.set_sensitive(true);
    Ok(value)
}

impl fmt::Debug for OpenAiBuilder {
    /// Omits the key, the headers and the endpoint, which may contain a password until `build` checks it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAiBuilder")
            .field("model", &self.model)
            .field("timeout", &self.timeout)
            .field("retries", &self.retries)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
