//! Records of tasks.

use superstep_store::checkpoint::RecordKind::{self, Answer, Finished, Interrupt, Step};
use superstep_store::checkpoint::{BatchWrite, CheckpointId, RecordKey, TaskRecord};
use superstep_store::payload::{Encoding, Payload};

use crate::Broken;
use crate::case::Target;
use crate::expect::{Expect as _, same};
use crate::shorthand::{format_records, key, record};
use crate::writer::{Writer, checkpoint_write};

pub(crate) async fn records_are_put_replaced_and_removed(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let mut new = writer.draft("a=1");
    new.records = vec![record(key(0, Step, "s"), "with it"), record(key(1, Step, "s"), "other task")];
    let id = writer.add_draft(new).await?;
    same(
        "records are added with their checkpoint",
        vec!["0 Step s: with it", "1 Step s: other task"],
        strs(&read_records(&writer, id).await?),
    )?;

    writer
        .write_records(
            id,
            vec![],
            vec![record(key(0, Step, "s"), "again"), record(key(0, Finished, "s"), "kind")],
        )
        .await?;
    let expected = vec!["0 Finished s: kind", "0 Step s: again", "1 Step s: other task"];
    same(
        "a record replaces the record with the same key",
        expected,
        strs(&read_records(&writer, id).await?),
    )?;

    writer.write_records(id, vec![key(0, Finished, "s"), key(7, Answer, "not there")], vec![]).await?;
    let expected = vec!["0 Step s: again", "1 Step s: other task"];
    same("removing a missing record is not an error", expected, strs(&read_records(&writer, id).await?))?;

    writer.write_records(id, vec![key(0, Step, "s")], vec![record(key(0, Step, "s"), "new")]).await?;
    let expected = vec!["0 Step s: new", "1 Step s: other task"];
    same("records are removed before others are put", expected, strs(&read_records(&writer, id).await?))?;

    let twice = vec![record(key(0, Step, "s"), "first"), record(key(0, Step, "s"), "last")];
    writer.write_records(id, vec![], twice).await?;
    let expected = vec!["0 Step s: last", "1 Step s: other task"];
    same("the last of two records with one key is kept", expected, strs(&read_records(&writer, id).await?))?;

    let put = |text: &str| BatchWrite::records(id, vec![], vec![record(key(1, Step, "s"), text)]);
    let remove = BatchWrite::records(id, vec![key(0, Step, "s")], vec![]);
    let batch = writer.batch(vec![put("one"), remove, put("two")]);
    writer.commit(batch).await.works("a batch may change records several times")?;
    same(
        "writes of a batch are made in order",
        vec!["1 Step s: two"],
        strs(&read_records(&writer, id).await?),
    )?;
    writer.expect_fields(id, "a=1", "records do not change fields").await?;
    writer.expect_fence("records do not move the head").await
}

async fn read_records(writer: &Writer, id: CheckpointId) -> Result<Vec<String>, Broken> {
    Ok(format_records(&writer.read(id).await?))
}

fn strs(lines: &[String]) -> Vec<&str> {
    lines.iter().map(String::as_str).collect()
}

pub(crate) async fn records_are_ordered_by_task_kind_and_key(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let id = writer.add("a=1").await?;
    let mut put = Vec::new();
    for text in ["b", "", "a", "B", "\u{e9}", "0010d:x", "0002d:x", "a b"] {
        for kind in RecordKind::ALL.into_iter().rev() {
            for task in [RecordKey::NO_TASK, 10, 2, 0] {
                put.push(record(key(task, kind, text), "x"));
            }
        }
    }
    writer.write_records(id, vec![], put.clone()).await?;
    put.sort_by(|a, b| a.key.cmp(&b.key));
    let found = writer.read(id).await?.records;
    same("records are ordered by task, kind and key", put, found)
}

pub(crate) async fn records_belong_to_one_checkpoint(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let first = writer.add("a=1").await?;
    writer.write_records(first, vec![], vec![record(key(0, Step, "s"), "early")]).await?;
    let second = writer.add("a=2").await?;
    writer.write_records(first, vec![], vec![record(key(1, Finished, ""), "late")]).await?;
    writer.write_records(second, vec![], vec![record(key(0, Interrupt, "q"), "?")]).await?;
    let fork = writer.fork(Some(first), "a=3").await?;
    writer.write_records(second, vec![], vec![record(key(0, Answer, "q"), "!")]).await?;
    let expected = [
        (first, vec!["0 Step s: early", "1 Finished : late"]),
        (second, vec!["0 Interrupt q: ?", "0 Answer q: !"]),
        (fork, vec![]),
    ];
    for (id, expected) in expected {
        let promise = "records belong to one checkpoint, even if it has children";
        same(promise, expected, strs(&format_records(&writer.read(id).await?)))?;
    }
    writer.expect_fence("records of an old checkpoint do not move the head").await
}

pub(crate) async fn batch_may_mix_records_and_checkpoints(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let first = writer.add("a=1").await?;
    writer.write_records(first, vec![], vec![record(key(0, Step, "s"), "x")]).await?;
    let new = writer.draft("a=2");
    let clear =
        BatchWrite::records(first, vec![key(0, Step, "s")], vec![record(key(0, Finished, ""), "done")]);
    writer
        .commit(writer.batch(vec![clear, checkpoint_write(new)]))
        .await
        .works("a batch may have records and a checkpoint")?;
    same(
        "both writes are made",
        vec!["0 Finished : done"],
        strs(&format_records(&writer.read(first).await?)),
    )?;
    writer.expect_fence("both writes are made").await
}

pub(crate) async fn record_keeps_any_payload(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let id = writer.add("a=1").await?;
    let all: Vec<u8> = (0..=255).collect();
    let long = vec![7; 1 << 20];
    let mut put = Vec::new();
    for (n, bytes) in (0..).zip([&[][..], &all, &long]) {
        for encoding in [Encoding::Bytes, Encoding::Sealed] {
            let key = key(n, Step, &format!("{encoding:?}"));
            put.push(TaskRecord::new(key, Payload::new(encoding, bytes)));
        }
    }
    writer.write_records(id, vec![], put.clone()).await?;
    same("a record keeps encoding and bytes", put, writer.read(id).await?.records)
}

pub(crate) async fn checkpoint_keeps_many_records(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let id = writer.add("a=1").await?;
    let put: Vec<_> = (0..2000).map(|task| record(key(task, Finished, ""), &task.to_string())).collect();
    for part in put.chunks(500) {
        writer.write_records(id, vec![], part.to_vec()).await?;
    }
    same("each of two thousand tasks has its record", put, writer.read(id).await?.records)
}
