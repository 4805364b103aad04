use axum::http::{HeaderMap, StatusCode};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::api_error::{ApiError, ApiResult};

/// The digest of the key that requests must have. The key itself is not kept.
#[derive(Clone, Copy)]
pub(crate) struct ApiKey([u8; 32]);

impl ApiKey {
    pub(crate) fn new(key: &str) -> Self {
        Self(Sha256::digest(key).into())
    }

    /// Checks the headers of a request.
    ///
    /// # Errors
    /// The request has no key, or another one.
    pub(crate) fn check(&self, headers: &HeaderMap) -> ApiResult<()> {
        let given = headers.get("x-api-key");
        if given.is_some_and(|given| self.is(given.as_bytes())) {
            return Ok(());
        }
        let detail = match given {
            None => "the request has no key: send it in the header `x-api-key`",
            Some(_) => "the key in the header `x-api-key` is wrong",
        };
        Err(ApiError::new(StatusCode::UNAUTHORIZED, detail))
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
