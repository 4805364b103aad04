use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use reqwest::header::CONTENT_TYPE;
use sse_stream::{Sse, SseByteStream};
use superstep::messages::MessageChunk;

use super::body::LimitedBody;
use super::delta_reader::DeltaReader;
use super::event_size::EventSize;
use super::failure::InvalidReply;
use super::{ChatRequest, ModelError, OpenAiModel, failure};

/// The stream of one reply. The request is sent at the first poll.
pub(super) struct ReplyStream<'a> {
    model: &'a OpenAiModel,
    state: State<'a>,
}

enum State<'a> {
    Requesting(Pin<Box<dyn Future<Output = Result<Events, ModelError>> + Send + 'a>>),
    Reading(Box<Events>, DeltaReader),
    Ended,
}

/// The events of a response.
struct Events {
    events: SseByteStream<LimitedBody>,
    size: EventSize,
    /// `false` for a response of another kind, such as the page of a proxy.
    are_events: bool,
}

impl<'a> ReplyStream<'a> {
    pub(super) fn new(model: &'a OpenAiModel, request: &'a ChatRequest) -> Self {
        let events = async move {
            let response = model.send(request, true).await?;
            let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
            let are_events = kind.is_none_or(|kind| kind.starts_with("text/event-stream"));
            let size = EventSize::default();
            let body = LimitedBody::new(&model.model, response, model.limits, size.clone());
            Ok(Events { events: SseByteStream::new(body), size, are_events })
        };
        Self { model, state: State::Requesting(Box::pin(events)) }
    }
}

impl Events {
    /// Returns `true` if the response has ended in the middle of an event.
    fn are_cut_off(&self) -> bool {
        self.are_events && self.size.get() > 0
    }

    /// Returns the data of the next event. `None` is the end of the stream, or of the reply.
    fn poll_data(&mut self, model: &str, cx: &mut Context<'_>) -> Poll<Option<Result<String, ModelError>>> {
        loop {
            let event = match ready!(Pin::new(&mut self.events).poll_next(cx)) {
                None => return Poll::Ready(None),
                Some(Err(error)) => return Poll::Ready(Some(Err(unreadable(model, error)))),
                Some(Ok(event)) => event,
            };
            self.size.reset();
            let Sse { data, event: kind, .. } = event;
            match data {
                Some(data) if data == "[DONE]" => return Poll::Ready(None),
                Some(data) if !data.is_empty() && kind.as_deref() != Some("keepalive") => {
                    return Poll::Ready(Some(Ok(data)));
                }
                _ => {}
            }
        }
    }
}

fn unreadable(model: &str, error: sse_stream::Error) -> ModelError {
    match error {
        sse_stream::Error::Body(error) => match error.downcast::<ModelError>() {
            Ok(error) => *error,
            Err(error) => failure::unreachable_because(model, error),
        },
        _ => failure::invalid_reply(model, InvalidReply::NotText),
    }
}

impl Stream for ReplyStream<'_> {
    type Item = Result<MessageChunk, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            match &mut this.state {
                State::Requesting(events) => match ready!(events.as_mut().poll(cx)) {
                    Ok(events) => this.state = State::Reading(Box::new(events), DeltaReader::default()),
                    Err(error) => {
                        this.state = State::Ended;
                        return Poll::Ready(Some(Err(error)));
                    }
                },
                State::Reading(events, reader) => {
                    let end = match ready!(events.poll_data(&this.model.model, cx)) {
                        None => reader
                            .finish(events.are_cut_off())
                            .map_err(|reason| failure::invalid_reply(&this.model.model, reason)),
                        Some(data) => {
                            let event = data.and_then(|data| this.model.object(data.as_bytes()));
                            match event.map(|event| reader.read(event)) {
                                Ok(Some(chunk)) => return Poll::Ready(Some(Ok(chunk))),
                                Ok(None) => continue,
                                Err(error) => Err(error),
                            }
                        }
                    };
                    // Closes the connection, even if the caller keeps the stream.
                    this.state = State::Ended;
                    return Poll::Ready(end.err().map(Err));
                }
                State::Ended => return Poll::Ready(None),
            }
        }
    }
}
