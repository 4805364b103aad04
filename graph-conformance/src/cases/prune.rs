//! Dropping old checkpoints.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::future::join;
use superstep_store::checkpoint::RecordKind::{Answer, Interrupt};
use superstep_store::checkpoint::{BatchWrite, CheckpointId, Checkpointer, Prune, RecordKey};

use crate::Broken;
use crate::case::Target;
use crate::expect::{Expect, holds, same};
use crate::shorthand::{key, record};
use crate::thread_contents::{ThreadContents, ids, query};
use crate::writer::{Writer, time};

fn keep_last(n: usize) -> Prune {
    Prune { thread: Some("t".into()), keep_last: Some(n), older_than: None }
}

async fn prune(store: &dyn Checkpointer, prune: Prune) -> Result<u64, Broken> {
    Ok(store.prune(prune).await.works("a store can be pruned")?.checkpoints)
}

pub(crate) async fn keep_last_keeps_the_newest(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let mut inner = writer.in_namespace("child");
    let mut other = Writer::new(&store, "other");
    for n in 0..10 {
        writer.add(&format!("n={n}")).await?;
        other.add("n=1").await?;
    }
    for n in 0..3 {
        inner.add(&format!("n={n}")).await?;
    }
    let before = ids(&*store, query("t", "")).await?;
    same("without a condition nothing is dropped", 0, prune(&*store, Prune::default()).await?)?;
    let only_thread = Prune { thread: Some("t".into()), ..Prune::default() };
    same("a thread is no condition", 0, prune(&*store, only_thread).await?)?;
    same("what is dropped is counted, in every namespace", 6, prune(&*store, keep_last(4)).await?)?;
    same(
        "of each namespace the newest are kept",
        before.get(..4),
        Some(&*ids(&*store, query("t", "")).await?),
    )?;
    same("of each namespace the newest are kept", 3, ids(&*store, query("t", "child")).await?.len())?;
    same("other threads are not touched", 10, ids(&*store, query("other", "")).await?.len())?;
    same("what is done is done", 0, prune(&*store, keep_last(4)).await?)?;
    let gone = store.get("t", "", before.get(4).copied()).await.works("a checkpoint need not be there")?;
    holds("what was dropped is not found", gone.found.is_none(), &gone)?;
    writer.expect_fence("pruning moves no head").await?;
    same("heads stay, whatever is said", 3 + 2, prune(&*store, keep_last(0)).await?)?;
    same("heads stay, whatever is said", 0, prune(&*store, keep_last(0)).await?)?;
    writer.expect_fence("pruning moves no head").await?;
    inner.expect_fence("pruning moves no head").await?;
    let nobody = Prune { thread: Some("nobody".into()), ..keep_last(0) };
    same("a thread need not be there", 0, prune(&*store, nobody).await?)?;
    let all = Prune { thread: None, ..keep_last(1) };
    same("all threads are meant if none is named", 9, prune(&*store, all).await?)
}

pub(crate) async fn older_than_drops_only_older_checkpoints(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    for name in ["t", "u"] {
        let mut writer = Writer::new(&store, name);
        for n in 0..10 {
            writer.add(&format!("n={n}")).await?;
        }
    }
    let older = |time, keep_last| Prune { thread: None, keep_last, older_than: Some(time) };
    // Checkpoint n was made at `time(n - 1)`.
    same("older is older, not as old", 0, prune(&*store, older(time(-1), None)).await?)?;
    let just = time(-1) + Duration::from_millis(1);
    same("to the millisecond, in all threads", 2, prune(&*store, older(just, None)).await?)?;
    same("both conditions must be fulfilled", 0, prune(&*store, older(time(5), Some(9))).await?)?;
    same("both conditions must be fulfilled", 2, prune(&*store, older(time(5), Some(8))).await?)?;
    same("both conditions must be fulfilled", 2 * 2, prune(&*store, older(time(3), Some(1))).await?)?;
    same("those that are not older stay", 6, ids(&*store, query("t", "")).await?.len())?;
    let later = time(1_000);
    same("a head stays however old it is", 2 * 5, prune(&*store, older(later, None)).await?)?;
    same("a head stays however old it is", 1, ids(&*store, query("u", "")).await?.len())
}

pub(crate) async fn remaining_checkpoints_read_unchanged(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    writer.add("old=1 list+0 both=x").await?;
    for n in 1..150 {
        let more = if n % 40 == 0 { "both=y".to_owned() } else { format!("list+{n} both+{n}") };
        writer.add(&more).await?;
    }
    for keep in [149, 120, 86, 65, 64, 63, 30, 2, 1] {
        let before = ThreadContents::read(&*store, "t", &[""]).await?;
        prune(&*store, keep_last(keep)).await?;
        let after = ThreadContents::read(&*store, "t", &[""]).await?;
        let kept = kept(before, |place, _| place < keep);
        after.expect_equal(
            &kept,
            format!("what remains reads as before, values and parents, when {keep} are kept"),
        )?;
    }
    let id = writer.add("list+end").await?;
    let stored = writer.read(id).await?;
    let pieces: usize = stored.fields.iter().map(|field| field.changes.len()).sum();
    same("a thread goes on after pruning", 1 + 147 + 1 + 30, pieces)
}

/// All of it without the checkpoints that do not stay.
fn kept(mut all: ThreadContents, stays: impl Fn(usize, CheckpointId) -> bool) -> ThreadContents {
    for namespace in &mut all.namespaces {
        let mut place = 0;
        namespace.checkpoints.retain(|stored| {
            place += 1;
            stays(place - 1, stored.checkpoint.id)
        });
    }
    all
}

pub(crate) async fn branches_survive_their_pruned_ancestors(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let mut line = Vec::new();
    for n in 0..100 {
        line.push(writer.add(&format!("list+{n} n={n}")).await?);
    }
    // Branches off the line at several places, and branches of those, each of one or two checkpoints.
    for at in [5, 30, 64, 65, 80] {
        let first = writer.fork(line.get(at).copied(), &format!("list+branch{at}")).await?;
        let second = writer.fork(Some(first), "list+more n+1").await?;
        writer.fork(Some(first), "own=1").await?;
        writer.fork(Some(second), "list=anew").await?;
        writer.fork(line.get(at).copied(), "").await?;
    }
    for keep in [100, 26, 25, 24, 13, 7, 5, 3, 1] {
        let before = ThreadContents::read(&*store, "t", &[""]).await?;
        prune(&*store, keep_last(keep)).await?;
        let after = ThreadContents::read(&*store, "t", &[""]).await?;
        let kept = kept(before, |place, _| place < keep);
        after.expect_equal(
            &kept,
            format!("a branch keeps what it needs of a line that is dropped, when {keep} are kept"),
        )?;
    }
    // What remains can be followed, also by another branch.
    let head = writer.fence.head;
    let next = writer.add("list+next").await?;
    let fork = writer.fork(head, "list+fork").await?;
    let upto = (0..=80).map(|n| format!("list+{n} ")).collect::<String>();
    writer.expect_fields(next, &format!("{upto}list+next n=80"), "a thread goes on after pruning").await?;
    writer.expect_fields(fork, &format!("{upto}list+fork n=80"), "and branches").await
}

pub(crate) async fn pruned_branch_leaves_nothing_behind(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let root = writer.add("list+root").await?;
    let mut parent = writer.add("list+kept").await?;
    writer.write_records(parent, vec![], vec![record(key(0, Interrupt, "q"), "?")]).await?;
    for _ in 0..3 {
        // The end of a branch is dropped, and then another follows what it followed.
        let wrong = writer.fork(Some(root), "list+wrong").await?;
        writer.add("list+head").await?;
        prune(&*store, keep_last(1)).await?;
        let gone = store.get("t", "", Some(wrong)).await.works("a checkpoint need not be there")?;
        holds("what is old goes", gone.found.is_none(), &gone)?;
        let dropped_parent = writer.draft("list+x");
        let mut orphan = dropped_parent.clone();
        orphan.checkpoint.parent = Some(wrong);
        let result = store.commit(writer.batch(vec![crate::writer::checkpoint_write(orphan)])).await;
        result.refused("what was dropped can be followed by nothing")?;
        let late = BatchWrite::Records { checkpoint: wrong, remove: vec![], put: vec![] };
        let result = store.commit(writer.batch(vec![late])).await;
        result.refused("what was dropped has no records")?;
        let head = writer.fence.head;
        if let Some(head) = head {
            let seen = crate::shorthand::format_fields(&writer.read(head).await?);
            let next = writer.fork(Some(head), "list+next").await?;
            writer
                .expect_fields(next, &format!("{seen} list+next"), "nothing that was dropped comes back")
                .await?;
            parent = next;
        }
        if store.get("t", "", Some(root)).await.works("reading works")?.found.is_none() {
            break;
        }
    }
    writer.read(parent).await.map(|_| ())
}

pub(crate) async fn open_interrupts_are_never_pruned(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let question = |task: u32, name: &str| record(key(task, Interrupt, name), "?");
    let answer = |task: u32, name: &str| record(key(task, Answer, name), "!");
    let root = writer.add("list+root").await?;
    let cases = [
        ("an open question", vec![question(0, "q")], true),
        ("an answered question", vec![question(0, "q"), answer(0, "q")], false),
        ("one of two open", vec![question(0, "q"), answer(0, "q"), question(0, "r")], true),
        ("another task's answer", vec![question(0, "q"), answer(1, "q")], true),
        ("another question's answer", vec![question(0, "q"), answer(0, "Q")], true),
        ("an answer without a question", vec![answer(0, "q")], false),
        ("no question", vec![], false),
    ];
    let mut stays = BTreeMap::new();
    stays.insert(root, ("a root that others follow", false));
    for (what, records, open) in cases {
        let id = writer.fork(Some(root), &format!("list+{}", what.len())).await?;
        writer.write_records(id, vec![], records).await?;
        stays.insert(id, (what, open));
    }
    let followed = writer.fork(Some(root), "list+followed").await?;
    writer.write_records(followed, vec![], vec![question(0, "q")]).await?;
    stays.insert(followed, ("an open question that something follows", false));
    let head = writer.fork(Some(followed), "list+head").await?;
    stays.insert(head, ("the head", true));
    let mut inner = writer.in_namespace("child");
    let asked = inner.add("a=1").await?;
    inner.write_records(asked, vec![], vec![question(0, "q")]).await?;
    inner.fork(None, "a=2").await?;

    let before = ThreadContents::read(&*store, "t", &["", "child"]).await?;
    let goes = stays.values().filter(|(_, stays)| !stays).count() as u64;
    same("only what nobody waits for is dropped", goes, prune(&*store, keep_last(1)).await?)?;
    for (id, (what, stays)) in &stays {
        let found = store.get("t", "", Some(*id)).await.works("a checkpoint need not be there")?.found;
        same(format!("whether it stays: {what}"), *stays, found.is_some())?;
    }
    let after = ThreadContents::read(&*store, "t", &["", "child"]).await?;
    let expected = kept(before, |_, id| stays.get(&id).is_none_or(|(_, stays)| *stays));
    after.expect_equal(&expected, "what waits reads as before, though what it follows is gone")?;
    // An answer sets it free.
    let open = stays.iter().find(|(_, (what, _))| *what == "an open question").map(|(id, _)| *id);
    if let Some(open) = open {
        writer.write_records(open, vec![], vec![answer(0, "q")]).await?;
        same("what is answered goes with the next pruning", 1, prune(&*store, keep_last(1)).await?)?;
    }
    Ok(())
}

pub(crate) async fn retained_checkpoints_are_not_pruned(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut outer = Writer::new(&store, "t");
    let (mut middle, mut deep) = (outer.in_namespace("child"), outer.in_namespace("child/deep"));
    let need = |id: CheckpointId, namespace: &str| vec![record(RecordKey::retaining(id, namespace), "null")];
    let mut outers = Vec::new();
    for n in 0..6 {
        outers.push(outer.add(&format!("list+{n} n={n}")).await?);
    }
    let mut middles = Vec::new();
    for n in 0..6 {
        middles.push(middle.add(&format!("list+{n} n={n}")).await?);
    }
    let at = |ids: &[CheckpointId], n: usize| ids.get(n).copied().unwrap_or(CheckpointId::after(None));
    // What the last ones need, also by way of others; what one needs that goes, goes with it.
    middle.write_records(at(&middles, 5), vec![], need(at(&outers, 1), "")).await?;
    middle.write_records(at(&middles, 5), vec![], need(at(&middles, 1), "child")).await?;
    middle.write_records(at(&middles, 2), vec![], need(at(&outers, 2), "")).await?;
    middle.write_records(at(&middles, 3), vec![], need(at(&outers, 3), "")).await?;
    let old = deep.add("a=1").await?;
    deep.write_records(old, vec![], need(at(&middles, 4), "child")).await?;
    let head = deep.add("a=2").await?;
    deep.write_records(head, vec![], need(at(&middles, 3), "child")).await?;
    let before = ThreadContents::read(&*store, "t", &["", "child", "child/deep"]).await?;
    let stays = [
        at(&outers, 1),
        at(&outers, 3),
        at(&outers, 5),
        at(&middles, 1),
        at(&middles, 3),
        at(&middles, 5),
        head,
    ];
    same("only what nobody needs is dropped", 3 + 3 + 1, prune(&*store, keep_last(1)).await?)?;
    let after = ThreadContents::read(&*store, "t", &["", "child", "child/deep"]).await?;
    after.expect_equal(&kept(before, |_, id| stays.contains(&id)), "what is needed reads as before")?;
    // Once those are gone that need it, it goes as well.
    for writer in [&mut deep, &mut middle] {
        writer.add("a=3").await?;
    }
    same("what is not needed any more goes", 2 + 3 + 1, prune(&*store, keep_last(1)).await?)
}

pub(crate) async fn prune_does_not_disturb_writers(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    writer.add("first=1 list+0").await?;
    let write = async {
        for n in 1..=100 {
            let head = writer.add(&format!("list+{n}")).await?;
            let pieces: usize = writer.read(head).await?.fields.iter().map(|field| field.changes.len()).sum();
            same("the head has all of its values while others are dropped", n + 2, pieces)?;
        }
        Ok::<_, Broken>(())
    };
    let clean = async {
        for _ in 0..50 {
            prune(&*store, keep_last(3)).await?;
            let all = Prune { thread: None, ..keep_last(5) };
            prune(&*store, all).await?;
        }
        Ok::<_, Broken>(())
    };
    let (written, cleaned) = join(write, clean).await;
    written.and(cleaned)?;
    prune(&*store, keep_last(2)).await?;
    same("what is to be kept is kept", 2, ids(&*store, query("t", "")).await?.len())?;
    let all: String = (0..=100).map(|n| format!(" list+{n}")).collect();
    match writer.fence.head {
        Some(head) => {
            writer.expect_fields(head, &format!("first=1{all}"), "nothing that is needed is lost").await
        }
        None => Ok(()),
    }
}

pub(crate) async fn copies_are_pruned_separately(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    for n in 0..80 {
        writer.add(&format!("list+{n} n={n}")).await?;
    }
    store.copy("t", "copy").await.works("a thread can be copied")?;
    let before = ThreadContents::read(&*store, "copy", &[""]).await?;
    prune(&*store, keep_last(1)).await?;
    ThreadContents::read(&*store, "copy", &[""])
        .await?
        .expect_equal(&before, "pruning a thread does nothing to its copy")?;
    let head = ThreadContents::read(&*store, "t", &[""]).await?;
    prune(&*store, Prune { thread: Some("copy".into()), ..keep_last(1) }).await?;
    ThreadContents::read(&*store, "copy", &[""])
        .await?
        .expect_equal(&head, "a copy can be pruned like a thread")
}
