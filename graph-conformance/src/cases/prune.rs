//! Removal of old checkpoints.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::future::join;
use superstep_store::checkpoint::RecordKind::{Answer, Interrupt};
use superstep_store::checkpoint::{BatchWrite, CheckpointId, Checkpointer, Prune, RecordKey};

use crate::Broken;
use crate::case::Target;
use crate::expect::{Expect as _, Refusal as _, holds, same};
use crate::shorthand::{key, record};
use crate::thread_contents::{ThreadContents, ids, query};
use crate::writer::{Writer, time};

fn keep_last(n: usize) -> Prune {
    Prune::new().thread("t").keep_last(n)
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
    same("prune without a condition drops nothing", 0, prune(&*store, Prune::default()).await?)?;
    let only_thread = Prune::new().thread("t");
    same("a thread alone is not a condition", 0, prune(&*store, only_thread).await?)?;
    same("dropped checkpoints are counted in all namespaces", 6, prune(&*store, keep_last(4)).await?)?;
    same(
        "the newest checkpoints of each namespace are kept",
        before.get(..4),
        Some(&*ids(&*store, query("t", "")).await?),
    )?;
    same(
        "the newest checkpoints of each namespace are kept",
        3,
        ids(&*store, query("t", "child")).await?.len(),
    )?;
    same("other threads are unchanged", 10, ids(&*store, query("other", "")).await?.len())?;
    same("a repeated prune drops nothing", 0, prune(&*store, keep_last(4)).await?)?;
    let loaded =
        store.get("t", "", before.get(4).copied()).await.works("a missing checkpoint is not an error")?;
    holds("a dropped checkpoint is not found", loaded.found.is_none(), &loaded)?;
    writer.expect_fence("prune does not move a head").await?;
    same("heads are never dropped", 3 + 2, prune(&*store, keep_last(0)).await?)?;
    same("heads are never dropped", 0, prune(&*store, keep_last(0)).await?)?;
    writer.expect_fence("prune does not move a head").await?;
    inner.expect_fence("prune does not move a head").await?;
    let missing = keep_last(0).thread("missing");
    same("a missing thread is not an error", 0, prune(&*store, missing).await?)?;
    let all = {
        let mut changed = keep_last(1);
        changed.thread = None;
        changed
    };
    same("prune without a thread prunes all threads", 9, prune(&*store, all).await?)
}

pub(crate) async fn older_than_drops_only_older_checkpoints(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    for name in ["t", "u"] {
        let mut writer = Writer::new(&store, name);
        for n in 0..10 {
            writer.add(&format!("n={n}")).await?;
        }
    }
    let older = |time, keep_last| Prune::new().keep_last(keep_last).older_than(time);
    // Checkpoint n was created at `time(n - 1)`.
    same("`older_than` excludes its own time", 0, prune(&*store, older(time(-1), None)).await?)?;
    let just = time(-1) + Duration::from_millis(1);
    same(
        "`older_than` has millisecond precision and applies to all threads",
        2,
        prune(&*store, older(just, None)).await?,
    )?;
    same("a dropped checkpoint meets both conditions", 0, prune(&*store, older(time(5), Some(9))).await?)?;
    same("a dropped checkpoint meets both conditions", 2, prune(&*store, older(time(5), Some(8))).await?)?;
    same(
        "a dropped checkpoint meets both conditions",
        2 * 2,
        prune(&*store, older(time(3), Some(1))).await?,
    )?;
    same("newer checkpoints stay", 6, ids(&*store, query("t", "")).await?.len())?;
    let later = time(1_000);
    same("an old head is not dropped", 2 * 5, prune(&*store, older(later, None)).await?)?;
    same("an old head is not dropped", 1, ids(&*store, query("u", "")).await?.len())
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
        let expected = without_dropped(before, |index, _| index < keep);
        after.expect_equal(&expected, format!("the {keep} remaining checkpoints read unchanged"))?;
    }
    let id = writer.add("list+end").await?;
    let stored = writer.read(id).await?;
    let changes: usize = stored.fields.iter().map(|field| field.changes.len()).sum();
    same("a thread continues after a prune", 1 + 147 + 1 + 30, changes)
}

/// Removes the checkpoints that a prune drops.
fn without_dropped(mut all: ThreadContents, remains: impl Fn(usize, CheckpointId) -> bool) -> ThreadContents {
    for namespace in &mut all.namespaces {
        let mut index = 0;
        namespace.checkpoints.retain(|stored| {
            index += 1;
            remains(index - 1, stored.checkpoint.id)
        });
    }
    all
}

pub(crate) async fn branches_survive_their_pruned_ancestors(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let mut main_branch = Vec::new();
    for n in 0..100 {
        main_branch.push(writer.add(&format!("list+{n} n={n}")).await?);
    }
    // Branches at several checkpoints, and branches of those, of one or two checkpoints each.
    for at in [5, 30, 64, 65, 80] {
        let first = writer.fork(main_branch.get(at).copied(), &format!("list+branch{at}")).await?;
        let second = writer.fork(Some(first), "list+more n+1").await?;
        writer.fork(Some(first), "own=1").await?;
        writer.fork(Some(second), "list=anew").await?;
        writer.fork(main_branch.get(at).copied(), "").await?;
    }
    for keep in [100, 26, 25, 24, 13, 7, 5, 3, 1] {
        let before = ThreadContents::read(&*store, "t", &[""]).await?;
        prune(&*store, keep_last(keep)).await?;
        let after = ThreadContents::read(&*store, "t", &[""]).await?;
        let expected = without_dropped(before, |index, _| index < keep);
        after.expect_equal(
            &expected,
            format!("a branch keeps the changes of its dropped ancestors, with `keep_last` {keep}"),
        )?;
    }
    // The thread can continue and branch.
    let head = writer.fence.head;
    let next = writer.add("list+next").await?;
    let fork = writer.fork(head, "list+fork").await?;
    let upto = (0..=80).map(|n| format!("list+{n} ")).collect::<String>();
    writer.expect_fields(next, &format!("{upto}list+next n=80"), "a thread continues after a prune").await?;
    writer.expect_fields(fork, &format!("{upto}list+fork n=80"), "a thread can branch after a prune").await
}

pub(crate) async fn pruned_branch_leaves_nothing_behind(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let root = writer.add("list+root").await?;
    let mut parent = writer.add("list+kept").await?;
    writer.write_records(parent, vec![], vec![record(key(0, Interrupt, "q"), "?")]).await?;
    for _ in 0..3 {
        // The last checkpoint of a branch is dropped, and then another one follows its parent.
        let dropped_id = writer.fork(Some(root), "list+wrong").await?;
        writer.add("list+head").await?;
        prune(&*store, keep_last(1)).await?;
        let loaded =
            store.get("t", "", Some(dropped_id)).await.works("a missing checkpoint is not an error")?;
        holds("old checkpoints are dropped", loaded.found.is_none(), &loaded)?;
        let dropped_parent = writer.draft("list+x");
        let mut orphan = dropped_parent.clone();
        orphan.checkpoint.parent = Some(dropped_id);
        let result = store.commit(writer.batch(vec![crate::writer::checkpoint_write(orphan)])).await;
        result.refused("a dropped checkpoint cannot be a parent")?;
        let late = BatchWrite::records(dropped_id, vec![], vec![]);
        let result = store.commit(writer.batch(vec![late])).await;
        result.refused("a dropped checkpoint cannot have records")?;
        let head = writer.fence.head;
        if let Some(head) = head {
            let seen = crate::shorthand::format_fields(&writer.read(head).await?);
            let next = writer.fork(Some(head), "list+next").await?;
            writer
                .expect_fields(next, &format!("{seen} list+next"), "dropped changes do not come back")
                .await?;
            parent = next;
        }
        if store.get("t", "", Some(root)).await.works("reading works")?.found.is_none() {
            break;
        }
    }
    writer.read(parent).await.map(|_| ())
}

pub(crate) async fn leaf_with_open_interrupt_is_not_pruned(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let question = |task: u32, name: &str| record(key(task, Interrupt, name), "?");
    let answer = |task: u32, name: &str| record(key(task, Answer, name), "!");
    let root = writer.add("list+root").await?;
    let cases = [
        ("an open interrupt", vec![question(0, "q")], true),
        ("an answered interrupt", vec![question(0, "q"), answer(0, "q")], false),
        ("one of two interrupts open", vec![question(0, "q"), answer(0, "q"), question(0, "r")], true),
        ("the answer of another task", vec![question(0, "q"), answer(1, "q")], true),
        ("the answer to another interrupt", vec![question(0, "q"), answer(0, "Q")], true),
        ("an answer without an interrupt", vec![answer(0, "q")], false),
        ("no interrupt", vec![], false),
    ];
    let mut remains = BTreeMap::new();
    remains.insert(root, ("a root with children", false));
    for (what, records, open) in cases {
        let id = writer.fork(Some(root), &format!("list+{}", what.len())).await?;
        writer.write_records(id, vec![], records).await?;
        remains.insert(id, (what, open));
    }
    let followed = writer.fork(Some(root), "list+followed").await?;
    writer.write_records(followed, vec![], vec![question(0, "q")]).await?;
    remains.insert(followed, ("an open interrupt with a child checkpoint", false));
    let head = writer.fork(Some(followed), "list+head").await?;
    remains.insert(head, ("the head", true));
    let mut inner = writer.in_namespace("child");
    let asked = inner.add("a=1").await?;
    inner.write_records(asked, vec![], vec![question(0, "q")]).await?;
    inner.fork(None, "a=2").await?;

    let before = ThreadContents::read(&*store, "t", &["", "child"]).await?;
    let dropped_count = remains.values().filter(|(_, remains)| !remains).count() as u64;
    same(
        "only checkpoints that no open interrupt protects are dropped",
        dropped_count,
        prune(&*store, keep_last(1)).await?,
    )?;
    for (id, (what, remains)) in &remains {
        let found = store.get("t", "", Some(*id)).await.works("a missing checkpoint is not an error")?.found;
        same(format!("a checkpoint is kept or dropped as expected: {what}"), *remains, found.is_some())?;
    }
    let after = ThreadContents::read(&*store, "t", &["", "child"]).await?;
    let expected = without_dropped(before, |_, id| remains.get(&id).is_none_or(|(_, remains)| *remains));
    after.expect_equal(
        &expected,
        "a checkpoint with an open interrupt reads unchanged after its parent is dropped",
    )?;
    // An answer closes the interrupt.
    let open = remains.iter().find(|(_, (what, _))| *what == "an open interrupt").map(|(id, _)| *id);
    if let Some(open) = open {
        writer.write_records(open, vec![], vec![answer(0, "q")]).await?;
        same("an answered interrupt is dropped by the next prune", 1, prune(&*store, keep_last(1)).await?)?;
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
    // The newest checkpoints retain others, directly and indirectly. A dropped checkpoint retains nothing.
    middle.write_records(at(&middles, 5), vec![], need(at(&outers, 1), "")).await?;
    middle.write_records(at(&middles, 5), vec![], need(at(&middles, 1), "child")).await?;
    middle.write_records(at(&middles, 2), vec![], need(at(&outers, 2), "")).await?;
    middle.write_records(at(&middles, 3), vec![], need(at(&outers, 3), "")).await?;
    let old = deep.add("a=1").await?;
    deep.write_records(old, vec![], need(at(&middles, 4), "child")).await?;
    let head = deep.add("a=2").await?;
    deep.write_records(head, vec![], need(at(&middles, 3), "child")).await?;
    let before = ThreadContents::read(&*store, "t", &["", "child", "child/deep"]).await?;
    let remains = [
        at(&outers, 1),
        at(&outers, 3),
        at(&outers, 5),
        at(&middles, 1),
        at(&middles, 3),
        at(&middles, 5),
        head,
    ];
    same(
        "only checkpoints that are not retained are dropped",
        3 + 3 + 1,
        prune(&*store, keep_last(1)).await?,
    )?;
    let after = ThreadContents::read(&*store, "t", &["", "child", "child/deep"]).await?;
    after.expect_equal(
        &without_dropped(before, |_, id| remains.contains(&id)),
        "retained checkpoints read unchanged",
    )?;
    // Retained checkpoints are dropped after the ones that retain them.
    for writer in [&mut deep, &mut middle] {
        writer.add("a=3").await?;
    }
    same(
        "checkpoints are dropped when they are no longer retained",
        2 + 3 + 1,
        prune(&*store, keep_last(1)).await?,
    )
}

pub(crate) async fn prune_does_not_disturb_writers(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    writer.add("first=1 list+0").await?;
    let write = async {
        for n in 1..=100 {
            let head = writer.add(&format!("list+{n}")).await?;
            let changes: usize =
                writer.read(head).await?.fields.iter().map(|field| field.changes.len()).sum();
            same("the head has all of its fields during a prune", n + 2, changes)?;
        }
        Ok::<_, Broken>(())
    };
    let clean = async {
        for _ in 0..50 {
            prune(&*store, keep_last(3)).await?;
            let all = {
                let mut changed = keep_last(5);
                changed.thread = None;
                changed
            };
            prune(&*store, all).await?;
        }
        Ok::<_, Broken>(())
    };
    let (written, cleaned) = join(write, clean).await;
    written.and(cleaned)?;
    prune(&*store, keep_last(2)).await?;
    same("`keep_last` checkpoints remain", 2, ids(&*store, query("t", "")).await?.len())?;
    let all: String = (0..=100).map(|n| format!(" list+{n}")).collect();
    match writer.fence.head {
        Some(head) => {
            writer
                .expect_fields(head, &format!("first=1{all}"), "no change that the head needs is lost")
                .await
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
    store.copy("t", "copy", None).await.works("a thread can be copied")?;
    let before = ThreadContents::read(&*store, "copy", &[""]).await?;
    prune(&*store, keep_last(1)).await?;
    ThreadContents::read(&*store, "copy", &[""])
        .await?
        .expect_equal(&before, "a prune of a thread does not change its copy")?;
    let head = ThreadContents::read(&*store, "t", &[""]).await?;
    prune(&*store, keep_last(1).thread("copy")).await?;
    ThreadContents::read(&*store, "copy", &[""]).await?.expect_equal(&head, "a copy can be pruned")
}
