use axum::extract::Request;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use axum::http::{HeaderName, HeaderValue, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// The headers that scripts of other origins may read. `location` is the address to which a client reconnects.
const EXPOSED: HeaderValue =
    HeaderValue::from_static("x-pagination-total, x-pagination-next, content-location, location");
const METHODS: HeaderValue = HeaderValue::from_static("DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT");
const ANY: HeaderValue = HeaderValue::from_static("*");

/// Lets pages of every origin use the server. It accepts no cookies, so a page can do no more than its user's key allows.
pub(super) async fn allow_origins(request: Request, next: Next) -> Response {
    if request.method() == Method::OPTIONS && request.headers().contains_key(ACCESS_CONTROL_REQUEST_METHOD) {
        return preflight(&request);
    }
    let from_page = request.headers().contains_key(ORIGIN);
    let mut response = next.run(request).await;
    if from_page {
        let headers = response.headers_mut();
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, ANY);
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    }
    response.headers_mut().append(VARY, HeaderValue::from_static("origin"));
    response
}

/// Responds to the question of a browser whether a page may send a request.
fn preflight(request: &Request) -> Response {
    const ASKS: HeaderName = HeaderName::from_static("access-control-request-private-network");
    const ALLOWS: HeaderName = HeaderName::from_static("access-control-allow-private-network");
    let mut response = "OK".into_response();
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, ANY);
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    headers.insert(
        VARY,
        HeaderValue::from_static("origin, access-control-request-method, access-control-request-headers"),
    );
    if let Some(asked) = request.headers().get(ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, asked.clone());
    }
    if request.headers().contains_key(ASKS) {
        headers.insert(ALLOWS, HeaderValue::from_static("true"));
    }
    response
}
