//! Promises of every reply and of every error.

use std::error::Error as _;

use serde_json::json;
use superstep::messages::{AiMessage, Message, MessageAssembler, MessageChunk};
use superstep::payload::{from_payload, to_payload};
use superstep_agent::ModelError;

use super::exchange::Streamed;

/// The secrets of the models: the key, and the token in a header.
pub(super) const SECRETS: [&str; 2] = ["s3cret-k3y", "dXNlcjpwYXNz"];

/// Returns the error and its causes as a log would show them, after checks of its strings.
pub(super) fn shown(error: &ModelError) -> String {
    let mut display = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        display += &format!(": {cause}");
        source = cause.source();
    }
    assert!(display.chars().count() < 700, "a long error: {display}");
    let debug = format!("{error:?}");
    assert!(debug.len() < 8000, "a long error: {debug}");
    for text in [&display, &debug] {
        for secret in SECRETS {
            assert!(!text.contains(secret), "an error shows a secret: {text}");
        }
        assert!(!text.contains("panicked"), "{text}");
    }
    // `Debug` of HTTP errors differs between connections.
    format!("{}: {display}", error.kind())
}

/// Checks that a message can be stored, and returns it.
pub(super) fn stored(message: AiMessage) -> AiMessage {
    for call in &message.invalid_tool_calls {
        assert!(call.error.as_ref().is_none_or(|error| error.chars().count() < 400), "{:?}", call.error);
    }
    let message = Message::from(message);
    let _ = message.to_openai();
    // A list, as in the state of an agent.
    let messages = vec![message.clone()];
    match to_payload(&messages) {
        Ok(payload) => {
            assert_eq!(from_payload::<Vec<Message>>(&payload).unwrap(), messages, "it is read back")
        }
        Err(error) => {
            assert!(error.to_string().contains("nested more than 127 deep"), "{error}");
            // Only metadata and content can be too deep.
            let calls = message.as_ai().map(|message| json!({"tool_calls": message.tool_calls}));
            to_payload(&[calls]).unwrap();
        }
    }
    match message {
        Message::Ai(message) => message,
        other => panic!("a reply is {other:?}"),
    }
}

/// Returns the assembled message of a stream, or its error.
pub(super) fn assembled((chunks, end): Streamed) -> Result<AiMessage, ModelError> {
    let mut whole = MessageAssembler::default();
    chunks.iter().for_each(|chunk| whole.push(chunk));
    end.map(|()| whole.finish())
}

/// Checks that the chunks can be sent to another process.
pub(super) fn sent(chunks: &[MessageChunk]) {
    for chunk in chunks {
        let json = serde_json::to_string(chunk).unwrap();
        assert_eq!(&serde_json::from_str::<MessageChunk>(&json).unwrap(), chunk, "{json}");
    }
}
