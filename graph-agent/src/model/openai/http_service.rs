use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use async_openai::middleware::HttpRequestFactory;
use reqwest::header::{HeaderMap, LOCATION, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode};
use tower_service::Service;

use super::ModelError;
use super::endpoint::Endpoint;
use super::failure;

/// The HTTP service that sends the client's requests and retries them.
///
/// It replaces the retries of `async-openai`. Those wait as long as a provider asks, and they drop the status of a refusal whose
/// body has an unknown form. Without the status, transient errors cannot be told from permanent ones.
#[derive(Clone)]
pub(super) struct HttpService(Arc<Sender>);

struct Sender {
    model: String,
    http: Client,
    endpoint: Endpoint,
    retries: u32,
}

/// The number of bytes of a refusal's body after which reading stops.
const MAX_REFUSAL_BODY: usize = 64 * 1024;

/// The longest wait that a provider may request. A run that waits longer would look dead.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(60);

/// The backoff before the first retry. It doubles up to `MAX_BACKOFF`.
const FIRST_BACKOFF: Duration = Duration::from_millis(500);
const MAX_BACKOFF: Duration = Duration::from_secs(8);

/// A failed attempt.
struct Failed {
    error: ModelError,
    /// `Some` if the request may be retried, with the wait that the provider requested, if any.
    retry: Option<Option<Duration>>,
}

impl HttpService {
    pub(super) fn new(model: &str, http: Client, endpoint: Endpoint, retries: u32) -> Self {
        Self(Arc::new(Sender { model: model.to_owned(), http, endpoint, retries }))
    }
}

impl Sender {
    async fn send(&self, request: HttpRequestFactory) -> Result<Response, ModelError> {
        let mut retries = 0;
        loop {
            let Failed { error, retry } = match self.attempt(&request).await {
                Ok(response) => return Ok(response),
                Err(failed) => failed,
            };
            let Some(requested) = retry.filter(|_| retries < self.retries) else { return Err(error) };
            tokio::time::sleep(requested.unwrap_or_else(|| backoff(retries))).await;
            retries += 1;
        }
    }

    async fn attempt(&self, request: &HttpRequestFactory) -> Result<Response, Failed> {
        let request = request
            .build()
            .await
            .map_err(|error| Failed { error: failure::from_client(&self.model, error), retry: None })?;
        let response = self.http.execute(request).await.map_err(|error| {
            // A request that reached the provider may have been billed, so only connection errors are retried.
            let retry = error.is_connect().then_some(None);
            Failed { error: failure::unreachable(&self.model, error), retry }
        })?;
        if response.status().is_success() { Ok(response) } else { Err(self.refused(response).await) }
    }

    async fn refused(&self, response: Response) -> Failed {
        let (status, wait) = (response.status(), retry_after(response.headers()));
        let location = response.headers().get(LOCATION).filter(|_| status.is_redirection()).cloned();
        let error = match location.as_ref().and_then(|url| url.to_str().ok()) {
            Some(url) => failure::refused(
                &self.model,
                &self.endpoint,
                status.as_u16(),
                format!("redirects to {url} are not followed").as_bytes(),
            ),
            None => failure::refused(&self.model, &self.endpoint, status.as_u16(), &body(response).await),
        };
        let short = wait.is_none_or(|wait| wait <= MAX_RETRY_AFTER);
        let retry = (error.is_transient() && short && status != StatusCode::NOT_IMPLEMENTED).then_some(wait);
        Failed { error, retry }
    }
}

/// Reads the body of a refusal. If the connection breaks, the part that has arrived is enough.
async fn body(mut response: Response) -> Vec<u8> {
    let mut body = Vec::new();
    while let Ok(Some(bytes)) = response.chunk().await {
        body.extend_from_slice(&bytes);
        if body.len() >= MAX_REFUSAL_BODY {
            break;
        }
    }
    body
}

/// Returns the wait that the provider requests, in milliseconds if given, otherwise in seconds.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let number = |name: &str| headers.get(name)?.to_str().ok()?.trim().parse::<u64>().ok();
    let millis = number("retry-after-ms").map(Duration::from_millis);
    millis.or_else(|| number(RETRY_AFTER.as_str()).map(Duration::from_secs))
}

/// Returns the backoff before the next retry. Jitter shortens it by up to a quarter, so that tasks do not retry in step.
fn backoff(retries: u32) -> Duration {
    use std::hash::BuildHasher as _;
    let full = FIRST_BACKOFF.saturating_mul(1_u32.checked_shl(retries).unwrap_or(u32::MAX)).min(MAX_BACKOFF);
    // `RandomState` has a new seed each time.
    let random = std::hash::RandomState::new().hash_one(retries) % 256;
    full.saturating_sub(full / 4 * u32::try_from(random).unwrap_or_default() / 256)
}

impl Service<HttpRequestFactory> for HttpService {
    type Response = Response;
    type Error = Box<dyn std::error::Error + Send + Sync>;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: HttpRequestFactory) -> Self::Future {
        let sender = Arc::clone(&self.0);
        Box::pin(async move { sender.send(request).await.map_err(Into::into) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backoff_doubles_up_to_the_maximum() {
        let full = [500, 1000, 2000, 4000, 8000, 8000];
        for (retries, full) in (0..).zip(full).chain([(1000, 8000)]) {
            let backoff = backoff(retries).as_millis();
            assert!((full * 3 / 4..=full).contains(&backoff), "{backoff} ms after {retries} retries");
        }
    }

    #[test]
    fn retry_after_is_read_in_seconds_or_milliseconds() {
        for (headers, expected) in [
            (&[][..], None),
            (&[("retry-after", "7")], Some(Duration::from_secs(7))),
            (&[("retry-after", "7"), ("retry-after-ms", "70")], Some(Duration::from_millis(70))),
            (&[("retry-after", "Fri, 21 Nov 2025 07:28:00 GMT")], None),
        ] {
            let headers: HeaderMap =
                headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
            assert_eq!(retry_after(&headers), expected);
        }
    }
}
