use axum::http::{HeaderMap, StatusCode};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::api_error::{ApiError, ApiResult};
use crate::app::App;

/// The digest of the key that requests must have. The key itself is not kept.
#[derive(Clone, Copy)]
pub(crate) struct ApiKey([u8; 32]);

impl ApiKey {
    pub(crate) fn new(key: &str) -> Self {
        Self(Sha256::digest(key).into())
    }

    /// Compares digests in constant time, so that the time of a response says nothing about the key.
    fn is(&self, given: &[u8]) -> bool {
        let given: [u8; 32] = Sha256::digest(given).into();
        self.0.ct_eq(&given).into()
    }
}

impl std::fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ApiKey(..)")
    }
}

/// Refuses requests without the key, if the server has one.
pub(super) fn check(app: &App, headers: &HeaderMap) -> ApiResult<()> {
    let Some(key) = app.options.api_key else { return Ok(()) };
    let given = headers.get("x-api-key");
    if given.is_some_and(|given| key.is(given.as_bytes())) {
        return Ok(());
    }
    let detail = match given {
        None => "the request has no key: send it in the header `x-api-key`",
        Some(_) => "the key in the header `x-api-key` is wrong",
    };
    Err(ApiError::new(StatusCode::UNAUTHORIZED, detail))
}
