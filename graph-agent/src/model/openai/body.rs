use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::Stream;
use http_body::Body as _;
use reqwest::{Body, Response};

use super::limits::Limits;
use super::{ModelError, failure};

/// Reads the body of a complete reply.
pub(super) async fn read(model: &str, mut response: Response, limits: Limits) -> Result<Vec<u8>, ModelError> {
    let announced = response.content_length().unwrap_or_default();
    limits.check_reply(model, usize::try_from(announced).unwrap_or(usize::MAX))?;
    let mut body = Vec::new();
    while let Some(part) = response.chunk().await.map_err(|error| failure::unreachable(model, error))? {
        limits.check_reply(model, body.len().saturating_add(part.len()))?;
        body.extend_from_slice(&part);
    }
    Ok(body)
}

/// The body of a streamed reply. It ends with an error if the reply or one of its events is too large.
pub(super) struct LimitedBody {
    model: Arc<str>,
    body: Body,
    limits: Limits,
    total: usize,
    /// The bytes since the last event. The reader of events resets it.
    event: Arc<AtomicUsize>,
}

impl LimitedBody {
    pub(super) fn new(model: &str, response: Response, limits: Limits, event: Arc<AtomicUsize>) -> Self {
        Self { model: Arc::from(model), body: response.into(), limits, total: 0, event }
    }

    fn count(&mut self, bytes: usize) -> Result<(), ModelError> {
        self.total = self.total.saturating_add(bytes);
        let event = self.event.load(Ordering::Relaxed).saturating_add(bytes);
        self.event.store(event, Ordering::Relaxed);
        self.limits.check_reply(&self.model, self.total)?;
        // Counted before the reader has seen where events end, so the last part does not count.
        self.limits.check_event(&self.model, event.saturating_sub(bytes))
    }
}

impl Stream for LimitedBody {
    type Item = Result<Bytes, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            let part = match ready!(Pin::new(&mut this.body).poll_frame(cx)) {
                None => return Poll::Ready(None),
                Some(Err(error)) => return Poll::Ready(Some(Err(failure::unreachable(&this.model, error)))),
                // Trailers have no data.
                Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
            };
            if !part.is_empty() {
                return Poll::Ready(Some(this.count(part.len()).map(|()| part)));
            }
        }
    }
}
