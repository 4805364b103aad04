use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use futures_core::Stream;
use http_body::Body as _;
use reqwest::{Body, Response};

use super::event_size::EventSize;
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
///
/// The error does not depend on the parts in which the body arrives. A reply that ends within its limit is read, even if other
/// bytes follow it.
pub(super) struct LimitedBody {
    model: Arc<str>,
    body: Body,
    limits: Limits,
    /// The bytes that have arrived.
    total: usize,
    /// The bytes that have arrived and are still to be read.
    rest: Bytes,
    event: EventSize,
}

impl LimitedBody {
    pub(super) fn new(model: &str, response: Response, limits: Limits, event: EventSize) -> Self {
        Self { model: Arc::from(model), body: response.into(), limits, total: 0, rest: Bytes::new(), event }
    }

    /// Takes the next part of the bytes that have arrived. The reader has read the previous part.
    ///
    /// A part has at most the first byte that exceeds the limit of its event, so that this error precedes all later ones.
    fn next_part(&mut self) -> Result<Option<Part>, ModelError> {
        let size = self.event.get();
        self.limits.check_event(&self.model, size)?;
        if self.rest.is_empty() {
            return self.limits.check_reply(&self.model, self.total).map(|()| None);
        }
        let room = self.limits.event.saturating_sub(size).saturating_add(1);
        let bytes = self.rest.split_to(room.min(self.rest.len()));
        Ok(Some(Part { bytes, event: self.event.clone() }))
    }
}

impl Stream for LimitedBody {
    type Item = Result<Part, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            match this.next_part() {
                Ok(None) => {}
                part => return Poll::Ready(part.transpose()),
            }
            let mut part = match ready!(Pin::new(&mut this.body).poll_frame(cx)) {
                None => return Poll::Ready(None),
                Some(Err(error)) => return Poll::Ready(Some(Err(failure::unreachable(&this.model, error)))),
                // Trailers have no data.
                Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
            };
            let room = this.limits.reply.saturating_sub(this.total);
            this.total = this.total.saturating_add(part.len());
            part.truncate(room);
            this.rest = part;
        }
    }
}

/// A part of the body. It counts the bytes that are read.
pub(super) struct Part {
    bytes: Bytes,
    event: EventSize,
}

impl Buf for Part {
    fn remaining(&self) -> usize {
        self.bytes.len()
    }

    fn chunk(&self) -> &[u8] {
        &self.bytes
    }

    fn advance(&mut self, count: usize) {
        let read = self.bytes.split_to(count.min(self.bytes.len()));
        self.event.add(&read);
    }
}
