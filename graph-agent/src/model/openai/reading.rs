use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use async_openai::types::stream::StreamResponse;
use futures_core::Stream;
use serde_json::Value;
use superstep::messages::MessageChunk;

use super::delta::Deltas;
use super::{ChatRequest, ModelError, OpenAiModel, failure};

/// A reply while it is being written. Nothing is asked before the first piece is waited for.
pub(super) struct Reading<'a> {
    model: &'a OpenAiModel,
    state: State<'a>,
}

type Pieces = StreamResponse<Value>;

enum State<'a> {
    Asking(Pin<Box<dyn Future<Output = Result<Pieces, ModelError>> + Send + 'a>>),
    Reading(Pieces, Deltas),
    Ended,
}

impl<'a> Reading<'a> {
    pub(super) fn new(model: &'a OpenAiModel, request: &'a ChatRequest) -> Self {
        let asking = async move {
            let body = model.body(request, true)?;
            let asked = model.client.chat().create_stream_byot(body).await;
            asked.map_err(|error| failure::of(&model.model, error))
        };
        Self { model, state: State::Asking(Box::pin(asking)) }
    }
}

impl Stream for Reading<'_> {
    type Item = Result<MessageChunk, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            match &mut this.state {
                State::Asking(asking) => match ready!(asking.as_mut().poll(cx)) {
                    Ok(pieces) => this.state = State::Reading(pieces, Deltas::default()),
                    Err(error) => {
                        this.state = State::Ended;
                        return Poll::Ready(Some(Err(error)));
                    }
                },
                State::Reading(pieces, deltas) => {
                    let end = match ready!(pieces.as_mut().poll_next(cx)) {
                        None => deltas.ended().map_err(|fault| failure::no_reply(&this.model.model, fault)),
                        Some(piece) => match this.model.object(piece).map(|piece| deltas.read(piece)) {
                            Ok(Some(chunk)) => return Poll::Ready(Some(Ok(chunk))),
                            Ok(None) => continue,
                            Err(error) => Err(error),
                        },
                    };
                    this.state = State::Ended;
                    return Poll::Ready(end.err().map(Err));
                }
                State::Ended => return Poll::Ready(None),
            }
        }
    }
}
