//! What is known of a checkpoint's tasks.

use superstep_store::checkpoint::RecordKind::{self, Answer, Finished, Interrupt, Step};
use superstep_store::checkpoint::{BatchWrite, CheckpointId, RecordKey, TaskRecord};
use superstep_store::payload::{Encoding, Payload};

use crate::Broken;
use crate::case::Here;
use crate::expect::{Expect, same};
use crate::notation::{key, record, records};
use crate::writer::{Writer, adds};

pub(crate) async fn records_are_put_replaced_and_removed(here: Here<'_>) -> Result<(), Broken> {
    let store = here.open().await?;
    let mut writer = Writer::new(&store, "t");
    let mut new = writer.draft("a=1");
    new.records = vec![record(key(0, Step, "s"), "with it"), record(key(1, Step, "s"), "other task")];
    let id = writer.add_as(new).await?;
    same(
        "records come with their checkpoint",
        vec!["0 Step s: with it", "1 Step s: other task"],
        strs(&told(&writer, id).await?),
    )?;

    writer
        .tell(id, vec![], vec![record(key(0, Step, "s"), "again"), record(key(0, Finished, "s"), "kind")])
        .await?;
    let expected = vec!["0 Finished s: kind", "0 Step s: again", "1 Step s: other task"];
    same("a record takes the place of that of its key", expected, strs(&told(&writer, id).await?))?;

    writer.tell(id, vec![key(0, Finished, "s"), key(7, Answer, "not there")], vec![]).await?;
    let expected = vec!["0 Step s: again", "1 Step s: other task"];
    same("a record can be removed; one that is not there too", expected, strs(&told(&writer, id).await?))?;

    writer.tell(id, vec![key(0, Step, "s")], vec![record(key(0, Step, "s"), "new")]).await?;
    let expected = vec!["0 Step s: new", "1 Step s: other task"];
    same("removing comes before putting", expected, strs(&told(&writer, id).await?))?;

    let twice = vec![record(key(0, Step, "s"), "first"), record(key(0, Step, "s"), "last")];
    writer.tell(id, vec![], twice).await?;
    let expected = vec!["0 Step s: last", "1 Step s: other task"];
    same("of two of one key the last stays", expected, strs(&told(&writer, id).await?))?;

    let put = |text: &str| BatchWrite::Records {
        checkpoint: id,
        remove: vec![],
        put: vec![record(key(1, Step, "s"), text)],
    };
    let remove = BatchWrite::Records { checkpoint: id, remove: vec![key(0, Step, "s")], put: vec![] };
    let batch = writer.batch(vec![put("one"), remove, put("two")]);
    writer.commit(batch).await.works("a batch may change records several times")?;
    same("writes of a batch are made in order", vec!["1 Step s: two"], strs(&told(&writer, id).await?))?;
    writer.reads(id, "a=1", "records change no value").await?;
    writer.stands("records move no head").await
}

async fn told(writer: &Writer, id: CheckpointId) -> Result<Vec<String>, Broken> {
    Ok(records(&writer.read(id).await?))
}

fn strs(lines: &[String]) -> Vec<&str> {
    lines.iter().map(String::as_str).collect()
}

pub(crate) async fn records_are_ordered_by_task_kind_and_key(here: Here<'_>) -> Result<(), Broken> {
    let store = here.open().await?;
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
    writer.tell(id, vec![], put.clone()).await?;
    put.sort_by(|a, b| a.key.cmp(&b.key));
    let found = writer.read(id).await?.records;
    same("records are ordered by task, kind and key", put, found)
}

pub(crate) async fn records_are_of_one_checkpoint(here: Here<'_>) -> Result<(), Broken> {
    let store = here.open().await?;
    let mut writer = Writer::new(&store, "t");
    let first = writer.add("a=1").await?;
    writer.tell(first, vec![], vec![record(key(0, Step, "s"), "early")]).await?;
    let second = writer.add("a=2").await?;
    writer.tell(first, vec![], vec![record(key(1, Finished, ""), "late")]).await?;
    writer.tell(second, vec![], vec![record(key(0, Interrupt, "q"), "?")]).await?;
    let fork = writer.fork(Some(first), "a=3").await?;
    writer.tell(second, vec![], vec![record(key(0, Answer, "q"), "!")]).await?;
    let expected = [
        (first, vec!["0 Step s: early", "1 Finished : late"]),
        (second, vec!["0 Interrupt q: ?", "0 Answer q: !"]),
        (fork, vec![]),
    ];
    for (id, expected) in expected {
        let promise = "records are of one checkpoint, also when others follow it";
        same(promise, expected, strs(&records(&writer.read(id).await?)))?;
    }
    writer.stands("records of an old checkpoint move no head").await
}

pub(crate) async fn records_may_come_with_the_next_checkpoint(here: Here<'_>) -> Result<(), Broken> {
    let store = here.open().await?;
    let mut writer = Writer::new(&store, "t");
    let first = writer.add("a=1").await?;
    writer.tell(first, vec![], vec![record(key(0, Step, "s"), "x")]).await?;
    let new = writer.draft("a=2");
    let clear = BatchWrite::Records {
        checkpoint: first,
        remove: vec![key(0, Step, "s")],
        put: vec![record(key(0, Finished, ""), "done")],
    };
    writer
        .commit(writer.batch(vec![clear, adds(new)]))
        .await
        .works("records and a checkpoint are one batch")?;
    same("both are made", vec!["0 Finished : done"], strs(&records(&writer.read(first).await?)))?;
    writer.stands("both are made").await
}

pub(crate) async fn a_record_keeps_its_payload_whatever_it_is(here: Here<'_>) -> Result<(), Broken> {
    let store = here.open().await?;
    let mut writer = Writer::new(&store, "t");
    let id = writer.add("a=1").await?;
    let all: Vec<u8> = (0..=255).collect();
    let long = vec![7; 1 << 20];
    let mut put = Vec::new();
    for (n, bytes) in (0..).zip([&[][..], &all, &long]) {
        for encoding in [Encoding::Bytes, Encoding::Sealed] {
            let key = key(n, Step, &format!("{encoding:?}"));
            put.push(TaskRecord { key, payload: Payload::new(encoding, bytes) });
        }
    }
    writer.tell(id, vec![], put.clone()).await?;
    same("a record keeps encoding and bytes", put, writer.read(id).await?.records)
}

pub(crate) async fn many_records_are_kept(here: Here<'_>) -> Result<(), Broken> {
    let store = here.open().await?;
    let mut writer = Writer::new(&store, "t");
    let id = writer.add("a=1").await?;
    let put: Vec<_> = (0..2000).map(|task| record(key(task, Finished, ""), &task.to_string())).collect();
    for part in put.chunks(500) {
        writer.tell(id, vec![], part.to_vec()).await?;
    }
    same("each of two thousand tasks has its record", put, writer.read(id).await?.records)
}
