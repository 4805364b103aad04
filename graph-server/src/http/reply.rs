use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::api_error::ApiError;

/// Returns a JSON response.
pub(crate) fn json<T: Serialize + ?Sized>(value: &T) -> Response {
    match serde_json::to_vec(value) {
        Ok(body) => ([(CONTENT_TYPE, HeaderValue::from_static("application/json"))], body).into_response(),
        Err(error) => {
            ApiError::internal(format!("the response cannot be written as JSON: {error}")).into_response()
        }
    }
}

/// Returns a response with a body that is JSON already.
pub(crate) fn json_text(body: String) -> Response {
    ([(CONTENT_TYPE, HeaderValue::from_static("application/json"))], body).into_response()
}

/// Returns a response without a body.
pub(crate) fn no_content() -> Response {
    StatusCode::NO_CONTENT.into_response()
}

/// Returns a page of a list. `found` has one item more than the page if there are further items.
pub(crate) fn page<T: Serialize>(mut found: Vec<T>, offset: usize, limit: usize) -> Response {
    let more = found.len() > limit;
    // As clients know it: with one more than the end of this page if there are further items.
    let total = offset + found.len();
    found.truncate(limit);
    let mut headers = HeaderMap::new();
    headers.insert(HeaderName::from_static("x-pagination-total"), total.into());
    if more {
        headers.insert(HeaderName::from_static("x-pagination-next"), (offset + limit).into());
    }
    (headers, json(&found)).into_response()
}
