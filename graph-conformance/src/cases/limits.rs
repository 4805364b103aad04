//! Everything within the limits can be read back. Everything else is refused, and leaves the thread unchanged.

use serde_json::{Value, json};
use superstep_store::Metadata;
use superstep_store::checkpoint::RecordKind::Step;
use superstep_store::checkpoint::{
    BatchWrite, ChangeKind, Checkpointer, FieldChange, NewCheckpoint, ThreadQuery,
};
use superstep_store::limits::{
    MAX_DEPTH, MAX_KEY_BYTES, MAX_METADATA_BYTES, MAX_NAME_BYTES, MAX_PAYLOAD_BYTES, MAX_PLAN_BYTES,
};
use superstep_store::payload::{Encoding, Payload};

use crate::Broken;
use crate::case::Target;
use crate::expect::{Expect as _, Refusal as _, same};
use crate::shorthand::{key, record};
use crate::thread_contents::{ThreadContents, ids, query};
use crate::writer::{Writer, checkpoint_write, run};

/// Arrays and objects, nested this deep.
fn nested(levels: usize) -> Value {
    (0..levels)
        .fold(json!(1), |inner, level| if level % 2 == 0 { json!([inner]) } else { json!({"k": inner}) })
}

fn metadata(key: &str, value: impl Into<Value>) -> Metadata {
    Metadata::from_iter([(key.to_owned(), value.into())])
}

/// Metadata whose JSON has this many bytes.
fn metadata_of(bytes: usize) -> Metadata {
    metadata("k", "x".repeat(bytes - r#"{"k":""}"#.len()))
}

/// A name of this many bytes, which is not ASCII.
fn name(bytes: usize) -> String {
    format!("{}{}", "é".repeat(bytes / 2), "x".repeat(bytes % 2))
}

/// Checks that metadata are read back by every call, also after the store was opened again.
async fn read_back(target: Target<'_>, wanted: Metadata, promise: &str) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    drop(store);
    writer.run = run("run", wanted.clone());
    let id = writer.add("a=1").await?;
    let writer = writer.reopen(target).await?;
    same(promise, &wanted, &writer.read(id).await?.checkpoint.run.metadata)?;
    let found = ids(&*writer.store, query("t", "").metadata(wanted.clone())).await?;
    same(format!("{promise}: they are found by their value"), vec![id], found)?;
    let page = writer.store.threads(ThreadQuery::new()).await.works("threads can be listed")?;
    let heads = page.items.into_iter().map(|record| record.head.ok().flatten());
    let listed: Vec<_> = heads.map(|head| head.map(|head| head.run.metadata.clone())).collect();
    same(format!("{promise}: they are in the list of threads"), vec![Some(wanted)], listed)?;
    writer.store.copy("t", "copy", None).await.works("a thread can be copied")?;
    same(format!("{promise}: they are copied"), 1, ids(&*writer.store, query("copy", "")).await?.len())
}

pub(crate) async fn metadata_within_the_limits_are_read_back(target: Target<'_>) -> Result<(), Broken> {
    let numbers = [
        json!(u64::MAX),
        json!(i64::MIN),
        json!(9_007_199_254_740_993_u64),
        json!(f64::MAX),
        json!(5e-324),
        json!(-0.0),
        json!(1.0),
        json!(0.1 + 0.2),
    ];
    let texts = json!(["", "\0", "a\0b", "\u{1f980}", "\u{2028}", { "": { "\0": null } }]);
    let mut wanted = metadata("deep", nested(MAX_DEPTH - 1));
    wanted.insert("numbers".to_owned(), numbers.to_vec().into());
    wanted.insert("texts".to_owned(), texts);
    wanted.insert(name(MAX_NAME_BYTES), Value::Null);
    read_back(target, wanted, "metadata at the maximum depth are read back").await
}

pub(crate) async fn metadata_at_the_size_limit_are_read_back(target: Target<'_>) -> Result<(), Broken> {
    read_back(target, metadata_of(MAX_METADATA_BYTES), "metadata of the maximum size are read back").await
}

/// Checks that batches are refused, and that the thread is as before.
async fn refuses(
    writer: &mut Writer,
    promise: &str,
    batches: impl IntoIterator<Item = NewCheckpoint>,
) -> Result<(), Broken> {
    let before = ThreadContents::read(&*writer.store, &writer.thread, &[&writer.namespace]).await?;
    for new in batches {
        // Valid writes around the refused one are not made either.
        let valid = writer.draft("a=valid");
        let batch = writer.batch(vec![checkpoint_write(valid), checkpoint_write(new)]);
        writer.clone().commit(batch.epoch(writer.fence.epoch + 1)).await.exceeds_a_limit(promise)?;
    }
    let after = ThreadContents::read(&*writer.store, &writer.thread, &[&writer.namespace]).await?;
    after.expect_equal(&before, format!("{promise}: the thread is unchanged"))?;
    // The writer continues.
    writer.add("a=next").await.map(drop)
}

pub(crate) async fn metadata_over_the_limits_are_refused(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    writer.add("a=1").await?;
    let wrong =
        [metadata("k", nested(MAX_DEPTH)), metadata("k", nested(200)), metadata_of(MAX_METADATA_BYTES + 1)];
    let with = |wrong: Metadata| {
        let mut new = writer.draft("a=2");
        new.checkpoint.run = run("other", wrong);
        new
    };
    let batches: Vec<_> = wrong.into_iter().map(with).collect();
    refuses(&mut writer, "metadata over a limit are refused", batches).await
}

pub(crate) async fn names_at_the_length_limit_are_stored(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let (long, long_key) = (name(MAX_NAME_BYTES), name(MAX_KEY_BYTES));
    let shorter = &long[..MAX_NAME_BYTES - 2];
    let mut outer = Writer::new(&store, &long);
    outer.origin = long_key.as_str().into();
    outer.add("a=1").await?;
    let mut writer = outer.in_namespace(&long);
    writer.run = run(&long, Metadata::new());
    writer.next = vec![long.as_str().into(), "b".into()];
    let mut new = writer.draft("");
    new.changes = vec![FieldChange::new(long.clone(), ChangeKind::Value, Payload::json("1"))];
    new.records = vec![record(key(0, Step, &long_key), "2")];
    let expected = new.clone();
    let id = writer.add_draft(new).await?;
    let writer = writer.reopen(target).await?;
    let found = writer.read(id).await?;
    same("names of the maximum length are read back", &expected.checkpoint, &found.checkpoint)?;
    let fields: Vec<_> = found.fields.iter().map(|field| field.field.as_str()).collect();
    same("a field may have a name of the maximum length", vec![long.as_str()], fields)?;
    same("a record may have a key of the maximum length", expected.records, found.records)?;
    let store = &writer.store;
    same("a run is found by its long id", vec![id], ids(&**store, query(&long, &long).run(&*long)).await?)?;
    same("names that differ at their end are distinct", 0, ids(&**store, query(shorter, "")).await?.len())?;
    store.copy(&long, &name(MAX_NAME_BYTES - 1), None).await.works("a copy may have a long name")?;
    same("a thread of a long name is deleted", true, store.delete(&long, None).await.works("deleting works")?)
}

pub(crate) async fn names_over_the_length_limit_are_refused(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    writer.add("a=1").await?;
    let (long, long_key) = (name(MAX_NAME_BYTES + 1), name(MAX_KEY_BYTES + 1));
    let mut drafts = vec![writer.draft(""), writer.draft(""), writer.draft(""), writer.draft("")];
    if let [run_id, node, field, record_key] = drafts.as_mut_slice() {
        run_id.checkpoint.run = run(&long, Metadata::new());
        node.checkpoint.next.push(long.as_str().into());
        field.changes = vec![FieldChange::new(long.clone(), ChangeKind::Value, Payload::json("1"))];
        record_key.records = vec![record(key(0, Step, &long_key), "1")];
    }
    refuses(&mut writer, "names over the limit are refused", drafts).await?;
    let Some(head) = writer.fence.head else { return Ok(()) };
    let records = BatchWrite::records(head, Vec::new(), vec![record(key(0, Step, &long_key), "1")]);
    let refused = writer.clone().commit(writer.batch(vec![records])).await;
    refused.exceeds_a_limit("a record with a key over the limit is refused")?;

    let mut other = Writer::new(&store, &long);
    let new = other.draft("a=1");
    let refused = other.commit(other.batch(vec![checkpoint_write(new)])).await;
    refused.exceeds_a_limit("the name of a thread over the limit is refused")?;
    let mut other = writer.in_namespace(&long);
    let new = other.draft("a=1");
    let refused = other.commit(other.batch(vec![checkpoint_write(new)])).await;
    refused.exceeds_a_limit("the name of a namespace over the limit is refused")?;
    let mut other = Writer::new(&store, "u");
    other.origin = long_key.as_str().into();
    let refused = other.commit(other.batch(Vec::new()).epoch(1)).await;
    refused.exceeds_a_limit("an origin over the limit is refused")?;
    store.copy("t", &long, None).await.exceeds_a_limit("a copy with a name over the limit is refused")?;
    let page = store.threads(ThreadQuery::new()).await.works("threads can be listed")?;
    let names: Vec<_> = page.items.iter().map(|record| record.thread.to_string()).collect();
    same("no thread was created", vec!["t".to_owned()], names)?;
    writer.expect_fence("the thread is unchanged").await
}

/// Bytes that an encoding or a database could not shorten.
fn bytes(length: usize) -> Payload {
    Payload::new(Encoding::Bytes, vec![0xa5; length])
}

pub(crate) async fn payloads_over_the_size_limit_are_refused(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    writer.add("a=1").await?;
    let large = bytes(MAX_PAYLOAD_BYTES + 1);
    let mut drafts = vec![writer.draft(""), writer.draft(""), writer.draft("")];
    if let [progress, change, task] = drafts.as_mut_slice() {
        progress.checkpoint.progress = Some(large.clone());
        change.changes = vec![FieldChange::new("f", ChangeKind::Value, large.clone())];
        task.records = vec![record(key(0, Step, "s"), "")];
        task.records.iter_mut().for_each(|record| record.payload = large.clone());
    }
    drop(large);
    refuses(&mut writer, "payloads over the limit are refused", drafts).await
}

pub(crate) async fn lists_over_the_size_limit_are_refused(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    writer.add("a=1").await?;
    let (mut changes, mut plan) = (writer.draft(""), writer.draft(""));
    // Each is within the limit, but a store may keep them together.
    let half = bytes(MAX_PAYLOAD_BYTES / 2);
    let delta = || FieldChange::new("f", ChangeKind::Delta, half.clone());
    changes.changes = vec![delta(), delta()];
    let node: std::sync::Arc<str> = name(MAX_NAME_BYTES).into();
    plan.checkpoint.next = vec![node; MAX_PLAN_BYTES / MAX_NAME_BYTES];
    refuses(&mut writer, "lists over the limit are refused", [changes, plan]).await
}
