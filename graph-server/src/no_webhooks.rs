//! In place of `webhooks` without the feature.

use std::sync::Arc;

use crate::api_error::{ApiError, ApiResult};
use crate::app::App;

/// Refuses all webhooks.
pub(crate) fn check(_: &App, webhook: Option<&str>) -> ApiResult<()> {
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

pub(crate) fn start(_: &Arc<App>) {}
