use std::time::Duration;

use reqwest::header::CONTENT_TYPE;
use reqwest::redirect::Policy;
use reqwest::{Client, StatusCode, Url};

use super::address::{Unreachable, resolve};
use super::tls;

/// The result of a call of a webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delivery {
    /// The address has accepted the result of the run.
    Accepted,
    /// The call may succeed later.
    Later,
    /// No call can succeed.
    Refused,
}

/// The time for one call.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Sends a body to a webhook. Redirects are not followed, and the body of the response is not read.
///
/// The name is resolved once. The connection is made to an address that was checked, so the name cannot lead elsewhere meanwhile.
pub(super) async fn deliver(url: &str, body: String, private: bool) -> Delivery {
    let Ok(url) = Url::parse(url) else { return Delivery::Refused };
    let Some(host) = url.host_str().map(str::to_owned) else { return Delivery::Refused };
    let addresses = match tokio::time::timeout(TIMEOUT, resolve(&url, private)).await {
        Ok(Ok(addresses)) => addresses,
        Ok(Err(Unreachable::Forbidden)) => return Delivery::Refused,
        Ok(Err(Unreachable::NotResolved)) | Err(_) => return Delivery::Later,
    };
    let Ok(tls) = tls::of_machine() else { return Delivery::Later };
    let client = Client::builder()
        .tls_backend_preconfigured(tls)
        .resolve_to_addrs(&host, &addresses)
        // A proxy would resolve the name itself.
        .no_proxy()
        .redirect(Policy::none())
        .timeout(TIMEOUT)
        .user_agent(concat!("superstep-server/", env!("CARGO_PKG_VERSION")))
        .build();
    let Ok(client) = client else { return Delivery::Later };
    let sent = client.post(url).header(CONTENT_TYPE, "application/json").body(body).send().await;
    match sent.map(|response| response.status()) {
        Ok(status) if status.is_success() => Delivery::Accepted,
        Ok(StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS) | Err(_) => Delivery::Later,
        Ok(status) if status.is_server_error() => Delivery::Later,
        Ok(_) => Delivery::Refused,
    }
}
