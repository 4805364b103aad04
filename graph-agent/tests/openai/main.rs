//! `OpenAiModel` against a test server on loopback.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "the functions that tests share fail a test as the tests themselves do"
)]

mod complete;
#[cfg(feature = "conformance")]
mod conformance;
mod failures;
mod limits;
mod server;
mod stream;
mod strict;
mod tls;

use std::future::poll_fn;
use std::time::Duration;

use superstep::messages::{AiMessage, MessageAssembler, MessageChunk};
use superstep_agent::{ChatModel, ChatRequest, ModelError, OpenAiBuilder, OpenAiModel};

use server::Server;

/// The timeout of the models in these tests.
const TIMEOUT: Duration = Duration::from_secs(20);

fn builder(server: &Server) -> OpenAiBuilder {
    OpenAiModel::builder("test-model").endpoint(server.url()).key("s3cret").timeout(TIMEOUT)
}

fn model(server: &Server) -> OpenAiModel {
    builder(server).build().unwrap()
}

fn why() -> ChatRequest {
    ChatRequest::new(["why?"])
}

/// Returns the chunks of a reply, and the error that ended it, if any.
async fn chunks(model: &OpenAiModel, request: &ChatRequest) -> (Vec<MessageChunk>, Result<(), ModelError>) {
    let mut stream = model.stream(request);
    let mut chunks = Vec::new();
    let end = loop {
        match poll_fn(|cx| stream.as_mut().poll_next(cx)).await {
            None => break Ok(()),
            Some(Ok(chunk)) => chunks.push(chunk),
            Some(Err(error)) => break Err(error),
        }
    };
    assert!(poll_fn(|cx| stream.as_mut().poll_next(cx)).await.is_none(), "nothing comes after the end");
    (chunks, end)
}

async fn streamed(model: &OpenAiModel, request: &ChatRequest) -> Result<AiMessage, ModelError> {
    let (chunks, end) = chunks(model, request).await;
    let mut whole = MessageAssembler::default();
    chunks.iter().for_each(|chunk| whole.push(chunk));
    end.map(|()| whole.finish())
}
