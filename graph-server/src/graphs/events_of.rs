use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use superstep::GraphState;
use superstep::stream::RunStream;

use super::{RunFailure, ServedEvent};

/// The events of a run without the type of its state.
pub(super) struct EventsOf<S: GraphState>(RunStream<S>);

impl<S: GraphState> EventsOf<S> {
    pub(super) fn new(stream: RunStream<S>) -> Self {
        Self(stream)
    }
}

impl<S: GraphState> Stream for EventsOf<S> {
    type Item = Result<ServedEvent, RunFailure>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Pin::new(&mut self.0).poll_next(cx).map(|event| {
            Some(match event? {
                Ok(event) => ServedEvent::of(event),
                Err(error) => Err(error.into()),
            })
        })
    }
}
