//! Measures storing and restoring a state against serde_json on the same values.

#![expect(clippy::expect_used, reason = "a bench that cannot run has to stop")]

use std::hint::black_box;
use std::time::Instant;

use paired::{extent, pair};
use serde::{Deserialize, Serialize};
use superstep::GraphState;
use superstep::checkpoint::{ChangeKind, CheckpointId, StoredChange, StoredField};
use superstep::payload::Payload;
use superstep::state::Restore;

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Message {
    role: String,
    content: String,
    score: Option<f64>,
    tokens: u32,
}

#[derive(GraphState, Clone)]
struct Chat {
    #[state(reducer = append)]
    messages: Vec<Message>,
    question: String,
    count: u64,
}

/// Returns a message of about 200 bytes of JSON.
fn message(number: u32) -> Message {
    let content = format!("message {number}: {}", "lorem ipsum dolor ".repeat(7));
    Message { role: "assistant".to_owned(), content, score: Some(f64::from(number) / 7.0), tokens: number }
}

fn json(value: &impl Serialize) -> Payload {
    Payload::new(superstep::payload::Encoding::Json, serde_json::to_vec(value).expect("JSON"))
}

fn chat(pieces: impl IntoIterator<Item = (ChangeKind, Payload)>) -> Vec<StoredField> {
    let piece = |(kind, payload)| StoredChange::new(CheckpointId::after(None), kind, payload);
    let of = |field: &str, pieces: Vec<StoredChange>| StoredField::new(field.to_owned(), pieces);
    vec![
        of("messages", pieces.into_iter().map(piece).collect()),
        of("question", vec![piece((ChangeKind::Value, json(&"why?")))]),
        of("count", vec![piece((ChangeKind::Value, json(&7)))]),
    ]
}

fn main() {
    let messages: Vec<Message> = (0..500).map(message).collect();
    let whole = json(&messages);
    let (rounds, times) = extent(41, 200);

    // The baseline is decoding the value alone, which every read has to do at least.
    let decode = || {
        let start = Instant::now();
        for _ in 0..times {
            let value: Vec<Message> = serde_json::from_slice(black_box(whole.bytes())).expect("messages");
            black_box(value);
        }
        start.elapsed() / times
    };
    let restore = |fields: &Vec<StoredField>| {
        let copies: Vec<_> = (0..times).map(|_| fields.clone()).collect();
        let start = Instant::now();
        for fields in copies {
            black_box(Chat::__restore(&mut Restore::new(fields)).expect("a chat"));
        }
        start.elapsed() / times
    };
    let value = chat([(ChangeKind::Value, whole.clone())]);
    let halves = messages.split_at(250);
    let deltas = halves.1.iter().map(|message| (ChangeKind::Delta, json(&[message])));
    let half = chat(std::iter::once((ChangeKind::Value, json(&halves.0))).chain(deltas));
    let deltas = chat(messages.iter().map(|message| (ChangeKind::Delta, json(&[message]))));

    let state = Chat { messages, question: String::new(), count: 0 };
    let mut bytes = Vec::new();
    let encode = || {
        let start = Instant::now();
        for _ in 0..times {
            bytes.clear();
            black_box(state.__encode_field(0, &mut bytes).expect("JSON"));
        }
        start.elapsed() / times
    };
    let mut plain = Vec::new();
    let write = || {
        let start = Instant::now();
        for _ in 0..times {
            plain.clear();
            serde_json::to_writer(&mut plain, &black_box(&state).messages).expect("JSON");
        }
        start.elapsed() / times
    };

    pair(rounds, || restore(&value), decode).report("restore a value of 100 KB", 1.1);
    pair(rounds, || restore(&half), decode).report("restore half of it and 250 deltas", 1.3);
    pair(rounds, || restore(&deltas), decode).report("restore it from 500 deltas", 1.3);
    pair(rounds, encode, write).report("store it", 1.2);
}
