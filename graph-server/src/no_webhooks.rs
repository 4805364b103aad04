//! In place of `webhooks` without the feature.

use crate::api_error::{ApiError, ApiResult};
use crate::options::Options;

/// Refuses all webhooks.
pub(crate) fn check(_: &Options, webhook: Option<&str>) -> ApiResult<()> {
    match webhook {
        Some(_) => Err(ApiError::unprocessable("`webhook`: this server calls no webhooks")),
        None => Ok(()),
    }
}

/// Sends nothing.
#[derive(Debug, Default)]
pub(crate) struct Sender;

impl Sender {
    pub(crate) fn wake(&self) {}

    pub(crate) fn stop(&self) {}
}
