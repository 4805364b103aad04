use std::net::IpAddr;

use axum::http::{HeaderMap, Method, request::Parts};

/// The head of a request whose caller is to be recognized.
#[derive(Clone, Debug)]
pub struct AuthRequest {
    method: Method,
    path: String,
    headers: HeaderMap,
    peer: Option<IpAddr>,
}

impl AuthRequest {
    pub(crate) fn new(parts: &Parts, peer: Option<IpAddr>) -> Self {
        Self {
            method: parts.method.clone(),
            path: parts.uri.path().to_owned(),
            headers: parts.headers.clone(),
            peer,
        }
    }

    /// Returns the method, such as `POST`.
    pub fn method(&self) -> &str {
        self.method.as_str()
    }

    /// Returns the path without the query.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the first value of a header. `None` without the header, or if its value is not text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Returns the token of the header `authorization: Bearer ..`.
    pub fn bearer_token(&self) -> Option<&str> {
        let (scheme, token) = self.header("authorization")?.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    }

    /// Returns the address of the other end of the connection: of the client, or of the proxy before the server.
    ///
    /// `None` if the routes are served without [`Started::serve`](crate::Started::serve).
    pub fn peer(&self) -> Option<IpAddr> {
        self.peer
    }
}
