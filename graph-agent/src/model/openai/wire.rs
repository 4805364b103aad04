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

/// Sends the client's requests.
///
/// The client's own way asks again three times, for as long as a provider likes, and forgets the status of a refusal whose body
/// is not just so: what is worth another try could not be told from what is not.
#[derive(Clone)]
pub(super) struct Wire(Arc<Sender>);

struct Sender {
    model: String,
    http: Client,
    endpoint: Endpoint,
    retries: u32,
}

/// A refusal is read up to here.
const BODY: usize = 64 * 1024;

/// What a provider may ask to wait for. A run that waited longer would look dead.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// The wait before the first further try, if the provider has not said; then twice as long each time, up to the other.
const FIRST_WAIT: Duration = Duration::from_millis(500);
const LAST_WAIT: Duration = Duration::from_secs(8);

/// A request that has come to nothing.
struct Failed {
    error: ModelError,
    /// Whether to try again, and after how long if the provider has said.
    again: Option<Option<Duration>>,
}

impl Wire {
    pub(super) fn new(model: &str, http: Client, endpoint: Endpoint, retries: u32) -> Self {
        Self(Arc::new(Sender { model: model.to_owned(), http, endpoint, retries }))
    }
}

impl Sender {
    async fn send(&self, request: HttpRequestFactory) -> Result<Response, ModelError> {
        let mut tried = 0;
        loop {
            let Failed { error, again } = match self.once(&request).await {
                Ok(response) => return Ok(response),
                Err(failed) => failed,
            };
            let Some(asked) = again.filter(|_| tried < self.retries) else { return Err(error) };
            tokio::time::sleep(asked.unwrap_or_else(|| wait(tried))).await;
            tried += 1;
        }
    }

    async fn once(&self, request: &HttpRequestFactory) -> Result<Response, Failed> {
        let request = request
            .build()
            .await
            .map_err(|error| Failed { error: failure::of(&self.model, error), again: None })?;
        let response = self.http.execute(request).await.map_err(|error| {
            // Once it has got through, it may have been paid for.
            let again = error.is_connect().then_some(None);
            Failed { error: failure::unreachable(&self.model, error), again }
        })?;
        if response.status().is_success() { Ok(response) } else { Err(self.refused(response).await) }
    }

    async fn refused(&self, response: Response) -> Failed {
        let (status, asked) = (response.status(), asked_wait(response.headers()));
        let moved = response.headers().get(LOCATION).filter(|_| status.is_redirection()).cloned();
        let error = match moved.as_ref().and_then(|place| place.to_str().ok()) {
            Some(place) => failure::refused(
                &self.model,
                &self.endpoint,
                status.as_u16(),
                format!("moved to {place}").as_bytes(),
            ),
            None => failure::refused(&self.model, &self.endpoint, status.as_u16(), &body(response).await),
        };
        let waits = asked.is_none_or(|asked| asked <= LONGEST_WAIT);
        let again = (error.is_transient() && waits && status != StatusCode::NOT_IMPLEMENTED).then_some(asked);
        Failed { error, again }
    }
}

/// As much as there is of it: a refusal whose reason breaks off is a refusal.
async fn body(mut response: Response) -> Vec<u8> {
    let mut body = Vec::new();
    while let Ok(Some(piece)) = response.chunk().await {
        body.extend_from_slice(&piece);
        if body.len() >= BODY {
            break;
        }
    }
    body
}

/// How long the provider asks to wait, in seconds or, more exactly, in milliseconds.
fn asked_wait(headers: &HeaderMap) -> Option<Duration> {
    let number = |name: &str| headers.get(name)?.to_str().ok()?.trim().parse::<u64>().ok();
    let exact = number("retry-after-ms").map(Duration::from_millis);
    exact.or_else(|| number(RETRY_AFTER.as_str()).map(Duration::from_secs))
}

/// Up to a quarter less than the full wait, so that tasks that were refused together do not come back together.
fn wait(tried: u32) -> Duration {
    use std::hash::BuildHasher as _;
    let full = FIRST_WAIT.saturating_mul(1_u32.checked_shl(tried).unwrap_or(u32::MAX)).min(LAST_WAIT);
    // Seeded anew for each.
    let some = std::hash::RandomState::new().hash_one(tried) % 256;
    full.saturating_sub(full / 4 * u32::try_from(some).unwrap_or_default() / 256)
}

impl Service<HttpRequestFactory> for Wire {
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
    fn each_wait_is_longer_than_the_one_before_until_the_longest() {
        let full = [500, 1000, 2000, 4000, 8000, 8000];
        for (tried, full) in (0..).zip(full).chain([(1000, 8000)]) {
            let waited = wait(tried).as_millis();
            assert!((full * 3 / 4..=full).contains(&waited), "{waited} ms after {tried} tries");
        }
    }

    #[test]
    fn a_provider_asks_for_a_wait_in_seconds_or_milliseconds() {
        for (headers, expected) in [
            (&[][..], None),
            (&[("retry-after", "7")], Some(Duration::from_secs(7))),
            (&[("retry-after", "7"), ("retry-after-ms", "70")], Some(Duration::from_millis(70))),
            (&[("retry-after", "Fri, 21 Nov 2025 07:28:00 GMT")], None),
        ] {
            let headers: HeaderMap =
                headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
            assert_eq!(asked_wait(&headers), expected);
        }
    }
}
