//! Requests and streams that are dropped.

use std::future::poll_fn;
use std::task::Poll;

use superstep::messages::AiMessage;

use crate::conformance::case::Provider;
use crate::conformance::expect::{request, same, shown};
use crate::conformance::{Answer, Broken, Delivery, TestModel};

async fn silent(provider: Provider<'_>) -> Option<TestModel> {
    let reply = AiMessage::new("Good morning, and good night.");
    provider.start(Answer::new(reply, Delivery::Silence)).await
}

pub(crate) async fn dropped_stream_closes_the_connection(provider: Provider<'_>) -> Result<(), Broken> {
    let Some(test) = silent(provider).await else { return Ok(()) };
    let Some(disconnected) = test.disconnected else { return Ok(()) };
    let request = request();
    let mut stream = test.model.stream(&request);
    loop {
        match poll_fn(|cx| stream.as_mut().poll_next(cx)).await {
            Some(Ok(chunk)) if chunk.text.is_empty() => {}
            Some(Ok(_)) => break,
            end => {
                return Err(Broken::new(
                    "a chunk is returned when it arrives",
                    "a chunk with text",
                    shown(&end),
                ));
            }
        }
    }
    drop(stream);
    same("a dropped stream closes its connection", true, disconnected.await)
}

pub(crate) async fn dropped_request_closes_the_connection(provider: Provider<'_>) -> Result<(), Broken> {
    let Some(test) = silent(provider).await else { return Ok(()) };
    let (Some(mut received), Some(disconnected)) = (test.received, test.disconnected) else { return Ok(()) };
    let request = request();
    let mut complete = test.model.complete(&request);
    let arrived = poll_fn(|cx| match complete.as_mut().poll(cx) {
        Poll::Ready(reply) => Poll::Ready(Err(reply)),
        Poll::Pending => received.as_mut().poll(cx).map(Ok),
    });
    match arrived.await {
        Ok(arrived) => same("a request is sent when it is polled", true, arrived)?,
        Err(reply) => {
            return Err(Broken::new("a request waits for its whole reply", "no reply", shown(&reply)));
        }
    }
    drop(complete);
    same("a dropped request closes its connection", true, disconnected.await)
}
