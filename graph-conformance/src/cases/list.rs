//! Lists of checkpoints.

use serde_json::{Value, json};
use superstep_store::checkpoint::{Checkpoint, CheckpointId, CheckpointQuery, CheckpointSource};

use crate::Broken;
use crate::case::Target;
use crate::expect::{Expect as _, holds, same};
use crate::thread_contents::{ids, query};
use crate::writer::{Writer, checkpoint_write, run};

pub(crate) async fn checkpoints_are_listed_newest_first(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let none = store.list(query("missing", "")).await.works("a missing thread is not an error")?;
    same("a missing thread has an empty list", (0, false), (none.items.len(), none.more))?;
    let mut writer = Writer::new(&store, "t");
    let mut expected: Vec<Checkpoint> = Vec::new();
    for n in 0..12 {
        let mut new = writer.draft("a+1");
        new.checkpoint.parent =
            if n % 4 == 3 { expected.first().map(|first| first.id) } else { writer.fence.head };
        expected.push(new.checkpoint.clone());
        writer.commit(writer.batch(vec![checkpoint_write(new)])).await.works("a checkpoint can be added")?;
    }
    let mut inner = writer.in_namespace("child");
    inner.add("a=1").await?;
    Writer::new(&store, "t2").add("a=1").await?;
    expected.reverse();
    let mut found = Vec::new();
    let mut next = query("t", "");
    loop {
        let page = store.list(next.clone()).await.works("checkpoints can be listed")?;
        next.before = page.items.last().map(|last| last.id);
        found.extend(page.items);
        if !page.more {
            break;
        }
    }
    same(
        "all checkpoints of a namespace are listed unchanged, of every branch, newest first",
        expected,
        found,
    )?;
    let none = store.list(query("t", "other")).await.works("a missing namespace is not an error")?;
    same("a missing namespace has an empty list", (0, false), (none.items.len(), none.more))
}

pub(crate) async fn pages_cover_the_list_without_gaps_or_repeats(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    for _ in 0..50 {
        writer.add("a+1").await?;
    }
    let all = ids(&*store, query("t", "")).await?;
    same("all checkpoints are listed", 50, all.len())?;
    for limit in [1, 3, 7, 49, 50, 51, 1000, usize::MAX] {
        let found = ids(&*store, query("t", "").limit(limit)).await?;
        same(format!("pages of {limit} cover the list without gaps or repeats"), &all, &found)?;
    }
    let page = store.list(query("t", "").limit(5)).await.works("a page can be listed")?;
    holds("a page before the last one has `more`", page.more, page.items.len())?;
    let page = store.list(query("t", "").limit(0)).await.works("a limit may be 0")?;
    same("a page with a limit of 0 is empty", 0, page.items.len())?;
    // A checkpoint that is added between two pages does not change the later page.
    let before = all.get(9).copied();
    writer.add("a+1").await?;
    let rest = ids(&*store, query("t", "").before(before).limit(6)).await?;
    same(
        "a checkpoint that is added between two pages is not on a later page",
        all.get(10..),
        Some(rest.as_slice()),
    )
}

pub(crate) async fn lists_may_begin_at_the_oldest_checkpoint(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    for n in 0..40 {
        let mut new = writer.draft("a+1");
        new.checkpoint.source = if n % 4 == 0 { CheckpointSource::Input } else { CheckpointSource::Loop };
        writer.commit(writer.batch(vec![checkpoint_write(new)])).await.works("a checkpoint can be added")?;
        Writer::new(&store, &format!("t{n}")).add("a=1").await?;
    }
    let newest_first = ids(&*store, query("t", "")).await?;
    let mut all = newest_first.clone();
    all.reverse();
    let bounds = [None, all.get(9).copied(), all.get(30).copied(), Some(CheckpointId::FIRST)];
    for nth in 0..bounds.len() * bounds.len() {
        let bound = |at: usize| bounds.get(at).copied().flatten();
        let (after, before) = (bound(nth / bounds.len()), bound(nth % bounds.len()));
        let inside = |id: &&CheckpointId| {
            after.is_none_or(|after| **id > after) && before.is_none_or(|before| **id < before)
        };
        let expected: Vec<_> = all.iter().filter(inside).copied().collect();
        for limit in [1, 7, usize::MAX] {
            let between = query("t", "").after(after).before(before).limit(limit);
            let mut found = Vec::new();
            let mut next = between.clone().oldest_first(true);
            loop {
                let page = store.list(next.clone()).await.works("checkpoints can be listed, oldest first")?;
                found.extend(page.items.iter().map(|one| one.id));
                if !page.more {
                    break;
                }
                next.after = page.items.last().map(|last| last.id).or(next.after);
            }
            same(format!("pages of {limit} from {after:?} to {before:?}, oldest first"), &expected, &found)?;
            let mut found = ids(&*store, between).await?;
            found.reverse();
            same(format!("pages of {limit} from {after:?} to {before:?}, newest first"), &expected, &found)?;
        }
    }
    let inputs = query("t", "").source(CheckpointSource::Input).after(all.get(4).copied()).oldest_first(true);
    let page = store.list(inputs.limit(1)).await.works("a source can be listed, oldest first")?;
    let found: Vec<_> = page.items.iter().map(|one| one.id).collect();
    same(
        "the first input after the fifth checkpoint",
        all.get(8).map(std::slice::from_ref),
        Some(found.as_slice()),
    )
}

pub(crate) async fn before_accepts_ids_that_do_not_exist(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let id = |byte| CheckpointId::from_bytes([byte; 16]);
    for byte in [10, 20, 30, 0x90] {
        let mut new = writer.draft("a+1");
        new.checkpoint.id = id(byte);
        writer.add_draft(new).await?;
    }
    let expected: [(u8, &[u8]); 8] = [
        (0, &[]),
        (10, &[]),
        (11, &[10]),
        (20, &[10]),
        (30, &[20, 10]),
        (0x7f, &[30, 20, 10]),
        (0x90, &[30, 20, 10]),
        (0xff, &[0x90, 30, 20, 10]),
    ];
    for (before, smaller) in expected {
        let found = ids(&*store, query("t", "").before(id(before))).await?;
        let smaller: Vec<_> = smaller.iter().map(|byte| id(*byte)).collect();
        same(format!("`before: {}` lists exactly the smaller ids", id(before)), smaller, found)?;
    }
    Ok(())
}

pub(crate) async fn filters_compare_values_strictly(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let values = [
        json!(1),
        json!(1.0),
        json!("1"),
        json!(true),
        json!(0),
        json!(-0.0),
        json!(false),
        json!(""),
        json!(null),
        json!("null"),
        json!("true"),
        json!([]),
        json!({}),
        json!([1]),
        json!([1.0]),
        json!([[1]]),
        json!({"a": 1}),
        json!({"a": 1, "b": 2}),
        json!({"a": [1, {"b": null}]}),
        json!({"a": [1, {}]}),
        json!(9_007_199_254_740_993_u64),
        json!(9_007_199_254_740_992_u64),
        json!(9_007_199_254_740_992.0),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(0.1),
        json!(0.1 + 0.2),
        json!(0.3),
        json!("\u{e9}"),
        json!("e\u{301}"),
        json!("a%"),
        json!("a_"),
        json!("ab"),
        json!("A"),
        json!("a"),
        json!("a\u{0}b"),
        json!({"\u{1F980} '\"%": "."}),
    ];
    let mut written = Vec::new();
    for (n, value) in values.iter().enumerate() {
        let metadata = [("key".to_owned(), value.clone()), ("n".to_owned(), n.into())];
        writer.run = run(&format!("run {n}"), metadata.into_iter().collect());
        written.push(writer.add("a+1").await?);
    }
    writer.run = run("without", serde_json::Map::new());
    let without = writer.add("a+1").await?;

    for (value, id) in values.iter().zip(&written) {
        let found = by(&store, "key", value.clone()).await?;
        same(format!("a filter for {value} finds exactly this value"), vec![*id], found)?;
    }
    let none: Vec<CheckpointId> = Vec::new();
    for key in ["KEY", "key ", "", "$.key", "key.a", "%", "k_y"] {
        same(
            format!("a filter for the missing key {key:?} finds nothing"),
            &none,
            &by(&store, key, json!(1)).await?,
        )?;
        same("a missing key is not null", &none, &by(&store, key, Value::Null).await?)?;
    }
    let swapped = by(&store, "key", json!({"b": 2, "a": 1})).await?;
    same(
        "the order of the keys of an object does not matter",
        written.get(17).copied(),
        swapped.first().copied(),
    )?;
    let all = ids(&*store, query("t", "")).await?;
    same("a query without a filter finds everything", Some(&without), all.first())
}

async fn by(
    store: &std::sync::Arc<dyn superstep_store::checkpoint::Checkpointer>,
    key: &str,
    value: Value,
) -> Result<Vec<CheckpointId>, Broken> {
    let mut by = query("t", "");
    by.metadata.insert(key.to_owned(), value);
    ids(&**store, by).await
}

pub(crate) async fn filters_can_be_combined_and_paged(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let sources =
        [CheckpointSource::Input, CheckpointSource::Loop, CheckpointSource::Update, CheckpointSource::Fork];
    let mut all = Vec::new();
    for n in 0..120_usize {
        if n % 10 == 0 {
            let user = ["Ada", "Bob", "Cy"].get(n / 10 % 3).copied();
            let metadata = json!({"user": user, "even": n / 10 % 2 == 0});
            writer.run = run(&format!("run {}", n / 10), metadata.as_object().cloned().unwrap_or_default());
        }
        let mut new = writer.draft("a+1");
        new.checkpoint.source = sources.get(n % 4).copied().unwrap_or(CheckpointSource::Loop);
        all.push(new.checkpoint.clone());
        writer.commit(writer.batch(vec![checkpoint_write(new)])).await.works("a checkpoint can be added")?;
    }
    all.reverse();
    let middle = all.get(33).map(|checkpoint| checkpoint.id);
    for source in [
        None,
        Some(CheckpointSource::Input),
        Some(CheckpointSource::Loop),
        Some(CheckpointSource::Update),
        Some(CheckpointSource::Fork),
    ] {
        for run in [None, Some("run 3"), Some("run 4"), Some("no run")] {
            for metadata in
                [json!({}), json!({"user": "Ada"}), json!({"user": "Ada", "even": false}), json!({"even": 1})]
            {
                for before in [None, middle] {
                    let metadata = metadata.as_object().cloned().unwrap_or_default();
                    let filter = {
                        let mut changed = query("t", "");
                        changed.source = source;
                        changed.run = run.map(Into::into);
                        changed.metadata = metadata;
                        changed.before = before;
                        changed
                    };
                    let expected: Vec<_> =
                        all.iter().filter(|one| matches(one, &filter)).map(|one| one.id).collect();
                    for limit in [None, Some(4)] {
                        let found = ids(&*store, filter.clone().limit(limit)).await?;
                        same(format!("a checkpoint must meet all filters: {filter:?}"), &expected, &found)?;
                    }
                }
            }
        }
    }
    Ok(())
}

fn matches(checkpoint: &Checkpoint, query: &CheckpointQuery) -> bool {
    query.before.is_none_or(|before| checkpoint.id < before)
        && query.source.is_none_or(|source| source == checkpoint.source)
        && query.run.as_ref().is_none_or(|run| *run == checkpoint.run.id)
        && query.metadata.iter().all(|(key, value)| checkpoint.run.metadata.get(key) == Some(value))
}
