use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::http::header::{CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING};
use axum::http::{HeaderMap, Method, Request, Response, StatusCode, Version};
use http_body::{Body as HttpBody, Frame, SizeHint};
use hyper::body::Incoming;

/// The request and the response that are under way on a connection.
///
/// It knows when a streamed response [waits](Self::take_waiting) for its next event. The connection then continues without the buffers
/// of HTTP, which are most of the memory that an open stream would have.
#[derive(Default)]
pub(super) struct Exchange(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    /// The response may be sent in chunks.
    chunked: bool,
    /// The connection may have another request.
    keeps_alive: bool,
    /// The request was read to its end.
    read: bool,
    /// The rest of the response.
    body: Option<Body>,
    /// The next part of the response is not there yet.
    waits: bool,
    /// Parts of the response are buffered.
    unsent: bool,
}

impl Exchange {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins with a request.
    pub(super) fn begin(&self, request: &Request<Incoming>) {
        let mut inner = self.lock();
        inner.chunked = request.version() == Version::HTTP_11 && request.method() != Method::HEAD;
        inner.keeps_alive = !closes(request.headers());
        inner.read = request.body().is_end_stream();
        inner.body = None;
    }

    /// Continues with the response.
    pub(super) fn respond(self: &Arc<Self>, response: Response<Body>) -> Response<SentBody> {
        let mut inner = self.lock();
        inner.unsent = true;
        let bodiless = matches!(response.status(), StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
        let framed = |name| response.headers().contains_key(name);
        let streams = inner.chunked
            && !bodiless
            && !response.status().is_informational()
            && response.body().size_hint().exact().is_none()
            && !framed(CONTENT_LENGTH)
            && !framed(TRANSFER_ENCODING);
        if !streams {
            return response.map(SentBody::Whole);
        }
        inner.keeps_alive &= !closes(response.headers());
        inner.waits = false;
        response.map(|body| {
            inner.body = Some(body);
            SentBody::Stream(Arc::clone(self))
        })
    }

    /// Everything was sent that was buffered.
    pub(super) fn flushed(&self) {
        self.lock().unsent = false;
    }

    /// Returns the rest of the response if it is a stream in chunks, nothing is buffered, and the next part is not there yet.
    pub(super) fn take_waiting(&self) -> Option<Body> {
        let mut inner = self.lock();
        if inner.waits && !inner.unsent && inner.read { inner.body.take() } else { None }
    }

    /// Returns `true` if the client may send another request after the response.
    pub(super) fn keeps_alive(&self) -> bool {
        self.lock().keeps_alive
    }
}

/// Returns `true` if a message is the last one of its connection.
fn closes(headers: &HeaderMap) -> bool {
    let values = headers.get_all(CONNECTION).into_iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|option| option.trim().eq_ignore_ascii_case("close"))
}

/// The body of a request.
pub(super) struct RequestBody {
    pub(super) body: Incoming,
    pub(super) exchange: Arc<Exchange>,
}

impl HttpBody for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        if matches!(frame, Poll::Ready(None)) || self.body.is_end_stream() {
            self.exchange.lock().read = true;
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The body of a response while an HTTP connection sends it.
pub(super) enum SentBody {
    Whole(Body),
    /// The body is in the exchange.
    Stream(Arc<Exchange>),
}

impl HttpBody for SentBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let exchange = match &mut *self {
            Self::Whole(body) => return Pin::new(body).poll_frame(cx),
            Self::Stream(exchange) => exchange,
        };
        let mut inner = exchange.lock();
        let Some(body) = &mut inner.body else { return Poll::Ready(None) };
        let frame = Pin::new(body).poll_frame(cx);
        inner.waits = frame.is_pending();
        inner.unsent |= frame.is_ready();
        frame
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(body) => body.is_end_stream(),
            Self::Stream(exchange) => exchange.lock().body.as_ref().is_none_or(HttpBody::is_end_stream),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(body) => body.size_hint(),
            Self::Stream(_) => SizeHint::default(),
        }
    }
}

impl Drop for SentBody {
    fn drop(&mut self) {
        if let Self::Stream(exchange) = self {
            // The client is gone, or has everything. Not under the lock: the drop may run code of others.
            let body = exchange.lock().body.take();
            drop(body);
        }
    }
}
