use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use async_openai::types::stream::StreamResponse;
use futures_core::Stream;
use serde_json::Value;
use superstep::messages::MessageChunk;

use super::delta_reader::DeltaReader;
use super::{ChatRequest, ModelError, OpenAiModel, failure};

/// The stream of one reply. The request is sent at the first poll.
pub(super) struct ReplyStream<'a> {
    model: &'a OpenAiModel,
    state: State<'a>,
}

type Events = StreamResponse<Value>;

enum State<'a> {
    Requesting(Pin<Box<dyn Future<Output = Result<Events, ModelError>> + Send + 'a>>),
    Reading(Events, DeltaReader),
    Ended,
}

impl<'a> ReplyStream<'a> {
    pub(super) fn new(model: &'a OpenAiModel, request: &'a ChatRequest) -> Self {
        let events = async move {
            let body = model.body(request, true)?;
            let events = model.client.chat().create_stream_byot(body).await;
            events.map_err(|error| failure::from_client(&model.model, error))
        };
        Self { model, state: State::Requesting(Box::pin(events)) }
    }
}

impl Stream for ReplyStream<'_> {
    type Item = Result<MessageChunk, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            match &mut this.state {
                State::Requesting(events) => match ready!(events.as_mut().poll(cx)) {
                    Ok(events) => this.state = State::Reading(events, DeltaReader::default()),
                    Err(error) => {
                        this.state = State::Ended;
                        return Poll::Ready(Some(Err(error)));
                    }
                },
                State::Reading(events, reader) => {
                    let end = match ready!(events.as_mut().poll_next(cx)) {
                        None => reader
                            .finish()
                            .map_err(|reason| failure::invalid_reply(&this.model.model, reason)),
                        Some(event) => match this.model.object(event).map(|event| reader.read(event)) {
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
