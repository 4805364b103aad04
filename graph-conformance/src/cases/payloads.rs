//! Payloads: a store returns the same bytes and encoding.

use superstep_store::checkpoint::{ChangeKind, FieldChange, StoredChange};
use superstep_store::payload::{Encoding, Payload};

use crate::Broken;
use crate::case::Target;
use crate::expect::same;
use crate::writer::Writer;

/// JSON that changes if a store parses and writes it.
const JSON: [&str; 12] = [
    "null",
    " { \"b\" : 1,\n\t\"a\" : 1.0 , \"a\": 2 } ",
    "1.0",
    "-0.0",
    "1e400",
    "123456789012345678901234567890.000",
    "\"\\u0041\\u0000\\ud83e\\udd80\"",
    "\"\u{1F980} \u{e9} e\u{301} \u{2028}\"",
    "\"\\/ ' \\\" `\"",
    "[]",
    "\"\"",
    "{\"\":{\"\":{}}}",
];

fn payloads() -> Vec<Payload> {
    let mut payloads: Vec<_> = JSON.into_iter().map(Payload::json).collect();
    let all: Vec<u8> = (0..=255).rev().collect();
    for encoding in [Encoding::Bytes, Encoding::Sealed] {
        payloads.push(Payload::new(encoding, &[][..]));
        payloads.push(Payload::new(encoding, &[0][..]));
        payloads.push(Payload::new(encoding, &b"null"[..]));
        payloads.push(Payload::new(encoding, all.as_slice()));
        payloads.push(Payload::new(encoding, &[0xff, 0xfe, 0xc0, 0x80][..]));
    }
    // The empty string is not JSON, but a store does not parse payloads.
    payloads.push(Payload::json(""));
    payloads
}

pub(crate) async fn value_keeps_encoding_and_bytes(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    for payload in payloads() {
        let mut new = writer.draft("");
        new.checkpoint.progress = Some(payload.clone());
        new.changes = vec![FieldChange::new("value", ChangeKind::Value, payload.clone())];
        let id = writer.add_draft(new).await?;
        let found = writer.read(id).await?;
        same("progress keeps encoding and bytes", Some(&payload), found.checkpoint.progress.as_ref())?;
        let changes =
            found.fields.into_iter().find(|field| field.field == "value").map(|field| field.changes);
        let expected = vec![StoredChange::new(id, ChangeKind::Value, payload.clone())];
        let bytes = crate::shorthand::payload_text(&payload);
        same(format!("a value keeps encoding and bytes: {bytes:?}"), Some(expected), changes)?;
    }
    Ok(())
}

pub(crate) async fn deltas_keep_different_encodings(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let mut expected = Vec::new();
    // Repeated for stores that compact small changes.
    for payload in (0..8).flat_map(|_| payloads()) {
        let mut new = writer.draft("");
        new.changes = vec![FieldChange::new("list", ChangeKind::Delta, payload.clone())];
        let checkpoint = writer.add_draft(new).await?;
        expected.push(StoredChange::new(checkpoint, ChangeKind::Delta, payload));
    }
    let Some(head) = writer.fence.head else { return Ok(()) };
    let changes = writer.read(head).await?.fields.into_iter().flat_map(|field| field.changes).collect();
    same("each delta keeps its own encoding and bytes", expected, changes)
}

pub(crate) async fn payload_of_a_megabyte_is_stored(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let bytes: Vec<u8> = (0..1_u32 << 20).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let large = Payload::new(Encoding::Bytes, bytes);
    let text = Payload::json(format!("\"{}\"", "\u{e9}x\\n".repeat(1 << 18)));
    let mut ids = Vec::new();
    for payload in [&large, &text, &Payload::json("1"), &large] {
        let mut new = writer.draft("n=1");
        new.checkpoint.progress = Some(payload.clone());
        new.changes.push(FieldChange::new("list", ChangeKind::Delta, payload.clone()));
        ids.push(writer.add_draft(new).await?);
    }
    let Some(head) = writer.fence.head else { return Ok(()) };
    let found = writer.read(head).await?;
    let list = found.fields.iter().find(|field| field.field == "list");
    let changes: Vec<_> =
        list.into_iter().flat_map(|field| &field.changes).map(|change| &change.payload).collect();
    same("a payload of a megabyte is stored", true, changes == [&large, &text, &Payload::json("1"), &large])?;
    same("a progress payload of a megabyte is stored", true, found.checkpoint.progress == Some(large))
}

pub(crate) async fn only_the_range_of_a_shared_buffer_is_stored(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let buffer: std::sync::Arc<[u8]> = b"before \"the part\" after"[..].into();
    let Some(part) = Payload::part_of(Encoding::Json, buffer, 7..17) else { return Ok(()) };
    let mut new = writer.draft("");
    new.changes = vec![FieldChange::new("f", ChangeKind::Value, part)];
    let id = writer.add_draft(new).await?;
    writer.expect_fields(id, "f=\"the part\"", "only the range of a shared buffer is stored").await
}
