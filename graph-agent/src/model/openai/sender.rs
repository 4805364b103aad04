use std::time::{Duration, SystemTime};

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION, RETRY_AFTER};
use reqwest::{Client, Method, Request, Response, StatusCode};

use super::ModelError;
use super::endpoint::Endpoint;
use super::failure;

/// Sends requests, and retries them after temporary failures.
pub(super) struct Sender {
    pub(super) model: String,
    pub(super) http: Client,
    pub(super) endpoint: Endpoint,
    pub(super) retries: u32,
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

impl Sender {
    /// Sends a request with this JSON. Returns the response after its headers have arrived.
    pub(super) async fn send(&self, body: String) -> Result<Response, ModelError> {
        let mut request = Request::new(Method::POST, self.endpoint.url.clone());
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        request.headers_mut().extend(self.endpoint.headers.clone());
        *request.body_mut() = Some(body.into());
        let mut retries = 0;
        loop {
            // A request whose body is in memory can be cloned.
            let Some(next) = request.try_clone() else {
                return self.attempt(request).await.map_err(|failed| failed.error);
            };
            let Failed { error, retry } = match self.attempt(next).await {
                Ok(response) => return Ok(response),
                Err(failed) => failed,
            };
            let Some(requested) = retry.filter(|_| retries < self.retries) else { return Err(error) };
            tokio::time::sleep(requested.unwrap_or_else(|| backoff(retries))).await;
            retries += 1;
        }
    }

    async fn attempt(&self, request: Request) -> Result<Response, Failed> {
        let response = self.http.execute(request).await.map_err(|error| {
            // A request that reached the provider may have been billed, so only connection errors are retried.
            let retry = error.is_connect().then_some(None);
            Failed { error: failure::unreachable(&self.model, error), retry }
        })?;
        if response.status().is_success() { Ok(response) } else { Err(self.refused(response).await) }
    }

    async fn refused(&self, response: Response) -> Failed {
        let (status, wait) = (response.status(), retry_after(response.headers(), SystemTime::now()));
        let location = response.headers().get(LOCATION).filter(|_| status.is_redirection()).cloned();
        let body = match location.as_ref().and_then(|url| url.to_str().ok()) {
            Some(url) => format!("redirects to {url} are not followed").into_bytes(),
            None => body(response).await,
        };
        let error = failure::refused(&self.model, &self.endpoint, status.as_u16(), &body, wait);
        let short = wait.is_none_or(|wait| wait <= MAX_RETRY_AFTER);
        let retry = (error.is_transient() && short && status != StatusCode::NOT_IMPLEMENTED).then_some(wait);
        Failed { error, retry }
    }
}

/// Reads the body of a refusal, or its beginning. If the connection breaks, the part that has arrived is enough.
async fn body(mut response: Response) -> Vec<u8> {
    let mut body = Vec::new();
    while let Ok(Some(bytes)) = response.chunk().await {
        let room = MAX_REFUSAL_BODY.saturating_sub(body.len());
        body.extend_from_slice(bytes.get(..room).unwrap_or(&bytes));
        if body.len() >= MAX_REFUSAL_BODY {
            break;
        }
    }
    body
}

/// Returns the wait that the provider requests: in milliseconds if given, otherwise in seconds or as the end of the wait.
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(millis) = text("retry-after-ms").and_then(|millis| millis.parse().ok()) {
        return Some(Duration::from_millis(millis));
    }
    let wait = text(RETRY_AFTER.as_str())?;
    match wait.parse() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        // A time in the past asks for no wait.
        Err(_) => Some(httpdate::parse_http_date(wait).ok()?.duration_since(now).unwrap_or_default()),
    }
}

/// Returns the backoff before the next retry. Jitter shortens it by up to a quarter, so that tasks do not retry in step.
fn backoff(retries: u32) -> Duration {
    use std::hash::BuildHasher as _;
    let full = FIRST_BACKOFF.saturating_mul(1_u32.checked_shl(retries).unwrap_or(u32::MAX)).min(MAX_BACKOFF);
    // `RandomState` has a new seed each time.
    let random = std::hash::RandomState::new().hash_one(retries) % 256;
    full.saturating_sub(full / 4 * u32::try_from(random).unwrap_or_default() / 256)
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
    fn retry_after_is_a_number_or_a_date() {
        let now = httpdate::parse_http_date("Fri, 21 Nov 2025 07:27:50 GMT").unwrap();
        for (headers, expected) in [
            (&[][..], None),
            (&[("retry-after", "7")], Some(Duration::from_secs(7))),
            (&[("retry-after", "7"), ("retry-after-ms", "70")], Some(Duration::from_millis(70))),
            (&[("retry-after", "Fri, 21 Nov 2025 07:28:00 GMT")], Some(Duration::from_secs(10))),
            (&[("retry-after", "Fri, 21 Nov 2025 07:27:00 GMT")], Some(Duration::ZERO)),
            (&[("retry-after", "soon")], None),
        ] {
            let headers: HeaderMap =
                headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
            assert_eq!(retry_after(&headers, now), expected);
        }
    }
}
