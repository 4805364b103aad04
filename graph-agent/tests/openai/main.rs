//! A model behind a chat endpoint, against a server on loopback that is looked at byte by byte.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "the functions that tests share fail a test as the tests themselves do"
)]

mod complete;
mod failures;
mod server;
mod stream;
mod strict;

use std::future::poll_fn;
use std::time::Duration;

use superstep::messages::{AiMessage, MessageAssembler, MessageChunk};
use superstep_agent::{ChatModel, ChatRequest, ModelError, OpenAiBuilder, OpenAiModel};

use server::Server;

/// No model of the tests' waits longer for a server that says nothing.
const PATIENCE: Duration = Duration::from_secs(20);

fn builder(server: &Server) -> OpenAiBuilder {
    OpenAiModel::builder("test-model").endpoint(server.url()).key("s3cret").timeout(PATIENCE)
}

fn model(server: &Server) -> OpenAiModel {
    builder(server).build().unwrap()
}

fn why() -> ChatRequest {
    ChatRequest::new(["why?"])
}

/// The pieces of a reply, up to its end or the error that ends it.
async fn pieces(model: &OpenAiModel, request: &ChatRequest) -> (Vec<MessageChunk>, Result<(), ModelError>) {
    let mut stream = model.stream(request);
    let mut pieces = Vec::new();
    let end = loop {
        match poll_fn(|cx| stream.as_mut().poll_next(cx)).await {
            None => break Ok(()),
            Some(Ok(piece)) => pieces.push(piece),
            Some(Err(error)) => break Err(error),
        }
    };
    assert!(poll_fn(|cx| stream.as_mut().poll_next(cx)).await.is_none(), "nothing comes after the end");
    (pieces, end)
}

async fn streamed(model: &OpenAiModel, request: &ChatRequest) -> Result<AiMessage, ModelError> {
    let (pieces, end) = pieces(model, request).await;
    let mut whole = MessageAssembler::default();
    pieces.iter().for_each(|piece| whole.push(piece));
    end.map(|()| whole.finish())
}
