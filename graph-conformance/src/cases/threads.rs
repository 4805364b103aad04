//! Lists of threads.

use superstep_store::checkpoint::{Checkpointer, ThreadQuery};

use crate::Broken;
use crate::case::Target;
use crate::expect::{Expect as _, holds, same};
use crate::writer::Writer;

/// Returns the names of all pages of a query.
async fn named(store: &dyn Checkpointer, mut query: ThreadQuery) -> Result<Vec<String>, Broken> {
    let mut names: Vec<String> = Vec::new();
    loop {
        let page = store.threads(query.clone()).await.works("threads can be listed")?;
        let fits = query.limit.is_none_or(|limit| page.items.len() <= limit);
        holds("a page has at most `limit` items", fits, &query)?;
        names.extend(page.items.iter().map(|thread| thread.thread.to_string()));
        if !page.more {
            return Ok(names);
        }
        holds("a page with `more` is not empty", !page.items.is_empty(), &query)?;
        query.after = page.items.last().map(|thread| thread.thread.clone());
    }
}

pub(crate) async fn threads_are_listed_with_epoch_and_head(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    same("a new store has no threads", Vec::<String>::new(), named(&*store, ThreadQuery::default()).await?)?;
    let mut writer = Writer::new(&store, "with head");
    writer.raise_epoch().await?;
    writer.add("a=1").await?;
    let head = writer.add("a=2").await?;
    let expected = writer.read(head).await?.checkpoint;
    writer.in_namespace("child").add("b=1").await?;
    let mut only_inner = Writer::new(&store, "only inner").in_namespace("child");
    only_inner.add("b=1").await?;
    let mut only_epoch = Writer::new(&store, "only epoch");
    only_epoch.raise_epoch().await?;

    let page = store.threads(ThreadQuery::default()).await.works("threads can be listed")?;
    let found: Vec<_> =
        page.items.into_iter().map(|item| (item.thread.to_string(), item.epoch, item.head.ok())).collect();
    let expected = vec![
        ("only epoch".to_owned(), 1, Some(None)),
        ("only inner".to_owned(), 0, Some(None)),
        ("with head".to_owned(), 1, Some(Some(expected))),
    ];
    same("a thread is listed with its epoch and the head of the empty namespace", expected, found)
}

pub(crate) async fn threads_are_paged_in_byte_order(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut names: Vec<String> = [
        "",
        "a",
        "B",
        "a b",
        "a%",
        "a%b",
        "a_",
        "ab",
        "a\u{e9}",
        "e\u{301}",
        "\u{1F980}",
        "\u{ffff}",
        "\0",
        "a\0b",
        "Z",
        "z",
    ]
    .map(str::to_owned)
    .into();
    names.extend((0..30).map(|n| format!("thread-{n}")));
    for name in names.iter().rev() {
        Writer::new(&store, name).add("a=1").await?;
    }
    names.sort();
    for limit in [None, Some(1), Some(3), Some(names.len()), Some(1000)] {
        let found = named(&*store, ThreadQuery::new().limit(limit)).await?;
        same(format!("threads are listed in byte order, in pages of {limit:?}"), &names, &found)?;
    }
    for after in ["", "a", "a%", "a\0", "m", "\u{10ffff}"] {
        let found = named(&*store, ThreadQuery::new().after(after)).await?;
        let expected: Vec<_> = names.iter().filter(|name| name.as_str() > after).cloned().collect();
        same(format!("`after: {after:?}` lists the threads that sort after it"), expected, found)?;
    }
    for prefix in [
        "",
        "a",
        "A",
        "a%",
        "a_",
        "%",
        "_",
        "thread-1",
        "thread-",
        "\0",
        "\u{1F980}",
        "\u{ffff}",
        "e",
        "nothing",
        "*",
    ] {
        for after in [None, Some("a%"), Some("thread-15"), Some("zzz")] {
            for limit in [None, Some(2)] {
                let query = {
                    let mut changed = ThreadQuery::new();
                    changed.after = after.map(Into::into);
                    changed.prefix = Some(prefix.into());
                    changed.limit = limit;
                    changed
                };
                let fits = |name: &&String| {
                    name.starts_with(prefix) && after.is_none_or(|after| name.as_str() > after)
                };
                let expected: Vec<_> = names.iter().filter(fits).cloned().collect();
                same(
                    format!("a prefix is a string, not a pattern: {query:?}"),
                    expected,
                    named(&*store, query).await?,
                )?;
            }
        }
    }
    let none = store.threads(ThreadQuery::new().limit(0)).await;
    same("a page with a limit of 0 is empty", 0, none.works("a limit may be 0")?.items.len())
}
