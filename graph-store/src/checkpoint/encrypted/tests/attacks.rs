use std::sync::Arc;

use super::{FIRST, batch, corrupt, encrypted, id, read_changes, write};
use crate::checkpoint::{
    ChangeKind, Checkpoint, CheckpointFuture, CheckpointId, CheckpointQuery, CheckpointSource, Checkpointer,
    EncryptedCheckpointer, Fence, HistoryEntry, Loaded, MemoryCheckpointer, NamespaceQuery, NamespaceRecord,
    Page, Prune, Pruned, RecordKind, RunRecord, StoredChange, StoredCheckpoint, StoredField, TaskRecord,
    ThreadQuery, ThreadRecord, WriteBatch,
};
use crate::payload::{Encoding, Payload};

/// A store whose reads return tampered data.
struct Tampered<F>(MemoryCheckpointer, F);

impl<F: Fn(&mut Loaded) + Send + Sync + 'static> Tampered<F> {
    /// Tampers with a checkpoint of a list as with one that is read alone.
    fn tampered(&self, checkpoint: Checkpoint, origin: &str) -> Checkpoint {
        let found = StoredCheckpoint { checkpoint, fields: Vec::new(), records: Vec::new() };
        let mut loaded = Loaded { origin: Some(origin.into()), found: Some(found), ..Loaded::default() };
        self.1(&mut loaded);
        loaded.found.unwrap().checkpoint
    }
}

impl<F: Fn(&mut Loaded) + Send + Sync + 'static> Checkpointer for Tampered<F> {
    fn commit(&self, batch: WriteBatch) -> CheckpointFuture<'_, ()> {
        self.0.commit(batch)
    }

    fn get(
        &self,
        thread: &str,
        namespace: &str,
        checkpoint: Option<CheckpointId>,
    ) -> CheckpointFuture<'_, Loaded> {
        let loaded = self.0.get(thread, namespace, checkpoint);
        Box::pin(async move {
            let mut loaded = loaded.await?;
            if loaded.found.is_some() {
                self.1(&mut loaded);
            }
            Ok(loaded)
        })
    }

    fn list(&self, query: CheckpointQuery) -> CheckpointFuture<'_, Page<Checkpoint>> {
        Box::pin(async move {
            let Page { items, more } = self.0.list(query).await?;
            Ok(Page { items: items.into_iter().map(|item| self.tampered(item, "")).collect(), more })
        })
    }

    fn history(&self, query: CheckpointQuery) -> CheckpointFuture<'_, Page<HistoryEntry>> {
        Box::pin(async move {
            let Page { mut items, more } = self.0.history(query).await?;
            for item in &mut items {
                let HistoryEntry { checkpoint, records, fields, .. } = item.clone();
                let mut loaded =
                    Loaded::new(Fence::default(), None, StoredCheckpoint::new(checkpoint, fields, records));
                self.1(&mut loaded);
                if let Some(StoredCheckpoint { checkpoint, fields, records }) = loaded.found {
                    *item = HistoryEntry { checkpoint, records, base: item.base, fields };
                }
            }
            Ok(Page { items, more })
        })
    }

    fn namespaces(&self, query: NamespaceQuery) -> CheckpointFuture<'_, Page<NamespaceRecord>> {
        self.0.namespaces(query)
    }

    fn threads(&self, query: ThreadQuery) -> CheckpointFuture<'_, Page<ThreadRecord>> {
        Box::pin(async move {
            let Page { mut items, more } = self.0.threads(query).await?;
            for item in &mut items {
                if let Ok(head) = &mut item.head {
                    *head = head.take().map(|head| self.tampered(head, ""));
                }
            }
            Ok(Page { items, more })
        })
    }

    fn delete(&self, thread: &str, epoch: Option<u64>) -> CheckpointFuture<'_, bool> {
        self.0.delete(thread, epoch)
    }

    fn copy(&self, from: &str, to: &str, epoch: Option<u64>) -> CheckpointFuture<'_, ()> {
        self.0.copy(from, to, epoch)
    }

    fn prune(&self, prune: Prune) -> CheckpointFuture<'_, Pruned> {
        self.0.prune(prune)
    }
}

fn tampered<F: Fn(&mut Loaded) + Send + Sync + 'static>(
    store: &MemoryCheckpointer,
    attack: F,
) -> EncryptedCheckpointer<Tampered<F>> {
    EncryptedCheckpointer::new(Tampered(store.clone(), attack), super::Keys::new(FIRST.into()))
}

async fn written() -> MemoryCheckpointer {
    let store = MemoryCheckpointer::new();
    write(&encrypted(&store, &[FIRST]), "t").await;
    store
}

/// Reads checkpoint 4 with an attack applied, and checks that the error contains `expected`.
#[track_caller]
fn refused(
    store: &MemoryCheckpointer,
    attack: impl Fn(&mut StoredCheckpoint) + Send + Sync + 'static,
    expected: &str,
) {
    let store = tampered(store, move |loaded| attack(loaded.found.as_mut().unwrap()));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let corrupt = corrupt(expected, runtime.block_on(store.get("t", "", Some(id(4)))));
    assert_eq!((&*corrupt.thread, corrupt.checkpoint.is_some()), ("t", true));
    assert!(corrupt.to_string().contains(expected), "{corrupt}\nis not: {expected}");
}

fn field<'a>(stored: &'a mut StoredCheckpoint, name: &str) -> &'a mut Vec<StoredChange> {
    &mut stored.fields.iter_mut().find(|field| field.field == name).unwrap().changes
}

fn task(stored: &mut StoredCheckpoint, task: u32, kind: RecordKind) -> &mut TaskRecord {
    stored.records.iter_mut().find(|record| record.key.task == task && record.key.kind == kind).unwrap()
}

const NOT_AUTHENTIC: &str = "it was changed or moved";

fn run<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(test)
}

#[test]
fn unchanged_data_is_read() {
    let store = run(written());
    let read = run(read_changes(&tampered(&store, |_| {}), "t", 4)).unwrap();
    assert_eq!(read, "list+a list+b list+c list+d list+e list+f list+g n=2 other=2 twin=1");
}

#[test]
fn every_flipped_bit_and_truncation_is_refused() {
    let store = run(written());
    let sealed = run(store.get("t", "", Some(id(4)))).unwrap().found.unwrap();
    let sealed =
        sealed.fields.into_iter().find(|field| field.field == "n").unwrap().changes.remove(0).payload;
    let bytes = sealed.bytes().to_vec();
    assert_eq!(bytes.len(), 46 + 1, "the documented 46 bytes and the value");
    for index in 0..bytes.len() {
        for bit in 0..8 {
            let mut bytes = bytes.clone();
            bytes[index] ^= 1 << bit;
            let changed = Payload::new(Encoding::Sealed, bytes);
            refused(
                &store,
                move |stored| field(stored, "n")[0].payload = changed.clone(),
                "field `n` of thread `t`",
            );
        }
        let cut = Payload::new(Encoding::Sealed, &bytes[..index]);
        refused(&store, move |stored| field(stored, "n")[0].payload = cut.clone(), "field `n` of thread `t`");
    }
    let longer = Payload::new(Encoding::Sealed, [&bytes[..], &[0]].concat());
    refused(&store, move |stored| field(stored, "n")[0].payload = longer.clone(), NOT_AUTHENTIC);
}

#[test]
fn plain_values_are_refused_everywhere() {
    let store = run(written());
    let plain = || Payload::json("1");
    refused(
        &store,
        move |stored| field(stored, "n")[0].payload = plain(),
        "field `n` of thread `t`, at checkpoint",
    );
    refused(&store, move |stored| field(stored, "list")[3].payload = plain(), "it is not encrypted");
    let at = "the Answer record `q` of task 1 of thread `t`";
    refused(&store, move |stored| task(stored, 1, RecordKind::Answer).payload = plain(), at);
    refused(&store, move |stored| stored.checkpoint.progress = Some(plain()), "the plan of thread `t`");
    refused(&store, |stored| stored.checkpoint.progress = None, "it is not encrypted");
    let bytes = || Payload::new(Encoding::Bytes, &b"1"[..]);
    refused(&store, move |stored| field(stored, "n")[0].payload = bytes(), "it is not encrypted");
}

#[test]
fn value_opens_only_at_its_own_location() {
    let store = run(written());
    refused(
        &store,
        |stored| field(stored, "n")[0].payload = field(stored, "other")[0].payload.clone(),
        NOT_AUTHENTIC,
    );
    refused(&store, |stored| field(stored, "twin")[0].checkpoint = id(3), NOT_AUTHENTIC);
    refused(&store, |stored| field(stored, "n")[0].kind = ChangeKind::Delta, NOT_AUTHENTIC);
    refused(&store, |stored| field(stored, "list")[0].kind = ChangeKind::Value, NOT_AUTHENTIC);
    refused(
        &store,
        |stored| field(stored, "list")[0].payload = field(stored, "list")[4].payload.clone(),
        NOT_AUTHENTIC,
    );
    let renamed = |stored: &mut StoredCheckpoint| {
        stored
            .fields
            .iter_mut()
            .filter(|field| field.field == "n")
            .for_each(|field| field.field = "m".into());
    };
    refused(&store, renamed, "field `m` of thread `t`");
    let to_record = |stored: &mut StoredCheckpoint| {
        task(stored, 0, RecordKind::Finished).payload = field(stored, "n")[0].payload.clone();
    };
    refused(&store, to_record, "the Finished record `` of task 0");
    let of_another_task = |stored: &mut StoredCheckpoint| {
        task(stored, 1, RecordKind::Finished).payload = task(stored, 0, RecordKind::Finished).payload.clone();
    };
    refused(&store, of_another_task, NOT_AUTHENTIC);
    refused(
        &store,
        |stored| task(stored, 1, RecordKind::Answer).key.key = "other question".into(),
        NOT_AUTHENTIC,
    );
    refused(&store, |stored| task(stored, 1, RecordKind::Answer).key.kind = RecordKind::Step, NOT_AUTHENTIC);
    let swapped = |stored: &mut StoredCheckpoint| {
        stored.checkpoint.progress = Some(task(stored, 0, RecordKind::Finished).payload.clone());
    };
    refused(&store, swapped, NOT_AUTHENTIC);
}

#[test]
fn missing_duplicate_and_reordered_changes_are_refused() {
    let store = run(written());
    // `list` is a | b c d | e | f g.
    refused(&store, |stored| field(stored, "list").swap(1, 2), NOT_AUTHENTIC);
    refused(&store, |stored| drop(field(stored, "list").remove(2)), NOT_AUTHENTIC);
    refused(&store, |stored| drop(field(stored, "list").pop()), NOT_AUTHENTIC);
    let doubled = |stored: &mut StoredCheckpoint| {
        let change = field(stored, "list")[4].clone();
        field(stored, "list").insert(4, change);
    };
    refused(&store, doubled, NOT_AUTHENTIC);
    let group_twice = |stored: &mut StoredCheckpoint| {
        let change = field(stored, "list")[0].clone();
        field(stored, "list").insert(4, change);
    };
    refused(&store, group_twice, "field `list` of thread `t`, at checkpoint");
    refused(&store, |stored| field(stored, "list")[..].rotate_left(1), "its changes are out of order");
    let old_value = |stored: &mut StoredCheckpoint| {
        let value = field(stored, "n")[0].clone();
        field(stored, "list").insert(0, value);
    };
    refused(&store, old_value, "field `list`");
    let twice = |stored: &mut StoredCheckpoint| {
        let changes = field(stored, "list").clone();
        stored.fields.push(StoredField { field: "list".into(), changes });
    };
    refused(&store, twice, "it occurs twice");
    refused(&store, |stored| stored.records.swap(1, 2), "it is out of order or occurs twice");
    let record_twice = |stored: &mut StoredCheckpoint| stored.records.insert(0, stored.records[0].clone());
    refused(&store, record_twice, "it is out of order or occurs twice");
}

#[test]
fn later_change_and_prepended_old_value_are_refused() {
    let store = run(written());
    // Genuine changes, of `list` at checkpoint 4 and of `n` at checkpoint 1, are returned for checkpoint 3.
    let newest = run(store.get("t", "", Some(id(4)))).unwrap().found.unwrap();
    let oldest = run(store.get("t", "", Some(id(1)))).unwrap().found.unwrap();
    let check = |attack: Box<dyn Fn(&mut StoredCheckpoint) + Send + Sync>, expected: &str| {
        let store = tampered(&store, move |loaded| attack(loaded.found.as_mut().unwrap()));
        let message = corrupt(expected, run(store.get("t", "", Some(id(3))))).to_string();
        assert!(message.contains(expected), "{message}");
    };
    let list = newest.fields.iter().find(|field| field.field == "list").unwrap().changes.clone();
    check(
        Box::new(move |stored| *field(stored, "list") = list.clone()),
        "it has a change of a later checkpoint",
    );
    let n = oldest.fields.iter().find(|field| field.field == "n").unwrap().changes[0].clone();
    let in_front = move |stored: &mut StoredCheckpoint| field(stored, "n").insert(0, n.clone());
    check(Box::new(in_front), "a whole value follows other changes");
}

#[test]
fn changed_plan_is_refused_by_every_read() {
    type Attack = fn(&mut Checkpoint);
    let attacks: [(&str, Attack); 9] = [
        ("another node", |checkpoint| checkpoint.next = vec!["publish".into()]),
        ("no node", |checkpoint| checkpoint.next.clear()),
        ("nodes run together", |checkpoint| checkpoint.next = vec!["askreview".into()]),
        ("another parent", |checkpoint| checkpoint.parent = Some(id(1))),
        ("no parent", |checkpoint| checkpoint.parent = None),
        ("another step", |checkpoint| checkpoint.step += 1),
        ("another source", |checkpoint| checkpoint.source = CheckpointSource::Fork),
        ("another run", |checkpoint| {
            checkpoint.run = Arc::new(RunRecord { id: "other".into(), ..(*checkpoint.run).clone() });
        }),
        ("another program", |checkpoint| {
            checkpoint.run = Arc::new(RunRecord { program: "other".into(), ..(*checkpoint.run).clone() });
        }),
    ];
    let store = run(written());
    for (what, attack) in attacks {
        let store = tampered(&store, move |loaded| attack(&mut loaded.found.as_mut().unwrap().checkpoint));
        let list = CheckpointQuery { thread: "t".into(), ..CheckpointQuery::default() };
        let all = [
            corrupt(what, run(store.get("t", "", Some(id(4))))),
            corrupt(what, run(store.list(list))),
            run(store.threads(ThreadQuery::default())).unwrap().items.remove(0).head.unwrap_err(),
        ];
        for corrupt in all {
            let message = corrupt.to_string();
            assert_eq!(corrupt.checkpoint, Some(id(4)), "{what}: {message}");
            assert!(
                message.contains("the plan of thread `t`") && message.contains(NOT_AUTHENTIC),
                "{what}: {message}"
            );
        }
    }
}

#[test]
fn substituted_checkpoint_is_refused() {
    let store = run(written());
    let others = encrypted(&store, &[FIRST]);
    run(write(&others, "other thread"));
    for (number, text) in (1..).zip(super::CHANGES) {
        let batch = WriteBatch { namespace: "inner".into(), ..batch("t", number, text) };
        run(others.commit(batch)).unwrap();
    }
    let other_thread = run(store.get("other thread", "", Some(id(4)))).unwrap();
    let inner = run(store.get("t", "inner", Some(id(4)))).unwrap();
    let older = run(store.get("t", "", Some(id(3)))).unwrap();
    for (what, loaded, expected) in [
        ("of another thread", other_thread.clone(), NOT_AUTHENTIC),
        ("of another namespace", inner, NOT_AUTHENTIC),
        ("an older one", older, "the checkpoint of thread `t`"),
    ] {
        let found = loaded.found.unwrap();
        let store = tampered(&store, move |loaded| loaded.found = Some(found.clone()));
        for asked in [None, Some(id(4))] {
            let message = corrupt(what, run(store.get("t", "", asked))).to_string();
            assert!(message.contains(expected), "{what}: {message}");
        }
    }
    let other_origin = tampered(&store, move |loaded| loaded.origin.clone_from(&other_thread.origin));
    corrupt("another origin", run(other_origin.get("t", "", None)));
    let no_origin = tampered(&store, |loaded| loaded.origin = None);
    assert_eq!(corrupt("no origin", run(no_origin.get("t", "", None))).reason, "the thread has no origin");
}
