use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::api_error::ApiError;

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let body = json!({ "detail": self.detail }).to_string();
        let mut response = (self.status, [(CONTENT_TYPE, "application/json")], body).into_response();
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(RETRY_AFTER, seconds.into());
        }
        response
    }
}
