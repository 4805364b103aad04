use std::sync::Arc;

use axum::body::{Bytes, to_bytes};
use axum::extract::{FromRequest, Request};
use serde_json::{Map, Value};

use crate::api_error::ApiError;
use crate::app::App;
use crate::protocol::{Read, read_body};

/// The JSON body of a request. An empty body is an empty object. The media type is not looked at: clients differ in it.
#[derive(Debug)]
pub(crate) struct Body<T>(pub(crate) T);

impl<T: Read> FromRequest<Arc<App>> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, ApiError> {
        let bytes = read_bytes(request, app.options.body_limit).await?;
        let value = if bytes.is_empty() { Value::Object(Map::new()) } else { parse(&bytes)? };
        read_body(value).map(Self).map_err(|problems| ApiError::unprocessable(problems.to_string()))
    }
}

pub(super) async fn read_bytes(request: Request, limit: usize) -> Result<Bytes, ApiError> {
    to_bytes(request.into_body(), limit).await.map_err(|error| {
        // The only other error is a connection that broke, whose client gets no response.
        let detail = format!("the body cannot be read, or has more than {limit} bytes: {error}");
        ApiError::new(axum::http::StatusCode::PAYLOAD_TOO_LARGE, detail)
    })
}

fn parse(bytes: &[u8]) -> Result<Value, ApiError> {
    serde_json::from_slice(bytes)
        .map_err(|error| ApiError::unprocessable(format!("the body is not JSON: {error}")))
}
