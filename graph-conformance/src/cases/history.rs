//! Histories: several checkpoints with their fields and records in one call.

use superstep_store::checkpoint::RecordKind::{Request, Step};
use superstep_store::checkpoint::{
    CheckpointId, CheckpointQuery, CheckpointSource, Checkpointer, HistoryEntry, Page, Prune, RecordKey,
    StoredCheckpoint,
};

use crate::Broken;
use crate::case::Target;
use crate::cases::names::names;
use crate::expect::{Expect as _, holds, same};
use crate::shorthand::{key, record};
use crate::thread_contents::{ids, query};
use crate::writer::{Writer, checkpoint_write};

/// Checks the structure of a page, and returns its checkpoints with complete fields.
pub(crate) fn expanded(
    query: &CheckpointQuery,
    page: Page<HistoryEntry>,
) -> Result<Vec<StoredCheckpoint>, Broken> {
    let count = page.items.len();
    let fits = query.limit.is_none_or(|limit| count <= limit);
    holds("a page has at most `limit` items", fits, count)?;
    holds("a page with `more` is not empty", count > 0 || !page.more || query.limit == Some(0), query)?;
    let listed: Vec<_> = page.items.iter().map(|entry| entry.checkpoint.id).collect();
    for entry in &page.items {
        let id = entry.checkpoint.id;
        if let Some(base) = entry.base {
            holds("a base is an older entry of the page", base < id && listed.contains(&base), (id, base))?;
        }
        for field in &entry.fields {
            holds("a field has changes", !field.changes.is_empty(), (id, &field.field))?;
            let changes = field.changes.iter().map(|change| change.checkpoint);
            let is_between = changes.clone().all(|of| of <= id && entry.base.is_none_or(|base| of > base));
            holds("changes were made after the base", is_between, (id, entry.base, &field.field))?;
            holds("changes are in order", changes.is_sorted(), (id, &field.field))?;
        }
    }
    let mut all = page.expand();
    same("each entry can be expanded", count, all.len())?;
    all.iter_mut().for_each(|stored| stored.fields.sort_by(|a, b| a.field.cmp(&b.field)));
    Ok(all)
}

/// Checks that the pages of a history have the checkpoints of the list, each as `get` returns it.
async fn expect_history(store: &dyn Checkpointer, mut query: CheckpointQuery) -> Result<(), Broken> {
    let (thread, namespace) = (query.thread.clone(), query.namespace.clone());
    let expected = ids(store, query.clone()).await?;
    let mut found = Vec::new();
    loop {
        let page = store.history(query.clone()).await.works("a history can be read")?;
        let more = page.more;
        for stored in expanded(&query, page)? {
            let id = stored.checkpoint.id;
            found.push(id);
            let loaded = store.get(&thread, &namespace, Some(id)).await.works("a checkpoint can be read")?;
            let mut one = loaded.found;
            if let Some(one) = &mut one {
                one.fields.sort_by(|a, b| a.field.cmp(&b.field));
            }
            same("a history has each checkpoint as `get` returns it", one, Some(stored))?;
        }
        if !more {
            return same("a history has the checkpoints of the list", expected, found);
        }
        query.before = found.last().copied();
    }
}

pub(crate) async fn history_equals_its_checkpoints(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    for n in 0..150 {
        let sign = if n % 50 == 17 { '=' } else { '+' };
        let mut new = writer.draft(&format!("list{sign}{n} list+{n}b count={n}"));
        if n % 40 == 3 {
            new.changes.extend(writer.draft("seldom+1 once=2 once+3").changes);
        }
        if n % 3 == 0 {
            new.records = vec![record(key(1, Step, "s"), "y"), record(key(0, Step, "\0"), "x")];
        }
        writer.add_draft(new).await?;
    }
    for limit in [None, Some(1), Some(7), Some(64), Some(1000)] {
        expect_history(&*store, query("t", "").limit(limit)).await?;
    }
    let none = store.history(query("t", "").limit(0)).await.works("a limit may be 0")?;
    same("a page with a limit of 0 is empty", 0, none.items.len())?;
    for (thread, namespace) in [("t", "child"), ("missing", "")] {
        let none = store.history(query(thread, namespace)).await.works("a namespace may be missing")?;
        same("a missing namespace has no history", Page::new(Vec::new(), false), none)?;
    }
    Ok(())
}

pub(crate) async fn history_follows_branches(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let mut all = vec![writer.add("list+start").await?];
    for n in 0..70_usize {
        let parent = match n % 7 {
            0 => None,
            1 | 2 => all.last().copied(),
            3 => all.get(n / 2).copied(),
            // A chain of forks.
            _ => all.get(all.len().saturating_sub(2)).copied(),
        };
        let parent = if n % 21 == 0 { None } else { parent.or(all.first().copied()) };
        let sign = if n % 11 == 5 { '=' } else { '+' };
        all.push(writer.fork(parent, &format!("list{sign}{n} other+{n}")).await?);
    }
    for limit in [None, Some(2), Some(13)] {
        expect_history(&*store, query("t", "").limit(limit)).await?;
    }
    writer.roll_back(all.get(55).copied()).await?;
    writer.fork(all.get(40).copied(), "list+new").await?;
    expect_history(&*store, query("t", "")).await?;
    store.prune(Prune::new().thread("t").keep_last(30)).await.works("a thread can be pruned")?;
    expect_history(&*store, query("t", "")).await?;
    store.copy("t", "copy", None).await.works("a thread can be copied")?;
    expect_history(&*store, query("copy", "").limit(9)).await
}

pub(crate) async fn history_has_the_conditions_of_a_list(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let mut all = Vec::new();
    for n in 0..40 {
        let mut new = writer.draft(&format!("list+{n}"));
        new.checkpoint.source = if n % 4 == 0 { CheckpointSource::Update } else { CheckpointSource::Loop };
        if n % 5 == 0 {
            new.records = vec![record(key(RecordKey::NO_TASK, Request, "k"), "x")];
        }
        all.push(writer.add_draft(new).await?);
    }
    let query = || query("t", "");
    let at = |n: usize| all.get(n).copied();
    for query in [
        query().before(at(30)).after(at(3)),
        query().source(CheckpointSource::Update),
        query().source(CheckpointSource::Update).limit(3),
        query().request("k"),
        query().request("k").before(at(20)).limit(1),
        query().run("run"),
        query().run("another"),
    ] {
        expect_history(&*store, query).await?;
    }
    let oldest_first = query().oldest_first(true).after(at(2)).limit(20);
    let page = store.history(oldest_first.clone()).await.works("a history can be read")?;
    let found: Vec<_> = expanded(&oldest_first, page)?.iter().map(|stored| stored.checkpoint.id).collect();
    same("a history can begin with the oldest checkpoint", all.get(3..23), Some(&*found))
}

pub(crate) async fn history_may_have_any_names(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t\0").in_namespace("\0'");
    for name in names() {
        let mut new = writer.draft("");
        new.changes = ["1", "2"]
            .map(|value| {
                let kind = superstep_store::checkpoint::ChangeKind::Delta;
                let payload = superstep_store::payload::Payload::json(value);
                superstep_store::checkpoint::FieldChange::new(name.clone(), kind, payload)
            })
            .into();
        new.records = vec![record(key(0, Step, &name), "x")];
        writer.add_draft(new).await?;
    }
    expect_history(&*store, query("t\0", "\0'")).await
}

pub(crate) async fn size_of_a_history_is_linear(target: Target<'_>) -> Result<(), Broken> {
    const COUNTS: [usize; 2] = [300, 2_400];
    let store = target.open().await?;
    for count in COUNTS {
        let thread = format!("{count}");
        let mut writer = Writer::new(&store, &thread);
        let mut made = 0;
        while made < count {
            let mut plan = writer.clone();
            let mut writes = Vec::new();
            for _ in 0..100 {
                let new = plan.draft(&format!("list+{made} count={made}"));
                plan.fence.head = Some(new.checkpoint.id);
                plan.step += 1;
                made += 1;
                writes.push(checkpoint_write(new));
            }
            writer.commit(writer.batch(writes)).await.works("a batch may add many checkpoints")?;
        }
        let (mut before, mut found, mut changes) = (None::<CheckpointId>, 0, 0);
        let mut calls = 0;
        loop {
            let page = store.history(query(&thread, "").before(before)).await;
            let page = page.works("a history can be read")?;
            calls += 1;
            found += page.items.len();
            let fields = page.items.iter().flat_map(|entry| &entry.fields);
            changes += fields.map(|field| field.changes.len()).sum::<usize>();
            before = page.items.last().map(|entry| entry.checkpoint.id);
            if !page.more {
                break;
            }
        }
        same("a history has every checkpoint", count, found)?;
        // The oldest entry of each page has all of its changes.
        let most = 2 * count + calls * count;
        holds("a page has the deltas of its entries once", changes <= most, (changes, calls))?;
        holds("pages are large", calls <= 1 + count / 200, calls)?;
    }
    Ok(())
}
