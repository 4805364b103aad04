use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::response::Response;
use http_body::{Body as _, Frame, SizeHint};

use crate::limits::OpenStream;

/// A body that is counted as an open stream until it is sent or dropped.
struct OpenBody {
    body: Body,
    _open: Arc<OpenStream>,
}

/// Counts a response as an open stream.
pub(super) fn counted(response: Response, open: Arc<OpenStream>) -> Response {
    if response.body().is_end_stream() {
        return response;
    }
    response.map(|body| Body::new(OpenBody { body, _open: open }))
}

impl http_body::Body for OpenBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
