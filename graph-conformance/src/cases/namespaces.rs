//! Lists of namespaces.

use superstep_store::checkpoint::{Checkpointer, NamespaceQuery};

use crate::Broken;
use crate::case::Target;
use crate::cases::names::names;
use crate::expect::{Expect as _, holds, same};
use crate::writer::Writer;

/// Returns the names of all pages of a query.
async fn named(store: &dyn Checkpointer, mut query: NamespaceQuery) -> Result<Vec<String>, Broken> {
    let mut names: Vec<String> = Vec::new();
    loop {
        let page = store.namespaces(query.clone()).await.works("namespaces can be listed")?;
        let fits = query.limit.is_none_or(|limit| page.items.len() <= limit);
        holds("a page has at most `limit` items", fits, &query)?;
        names.extend(page.items.iter().map(|item| item.namespace.to_string()));
        let Some(last) = page.items.last().filter(|_| page.more) else {
            holds("a page with `more` is not empty", !page.more, &query)?;
            return Ok(names);
        };
        query = query.continue_after(last);
    }
}

pub(crate) async fn namespaces_are_listed_with_their_heads(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let none = named(&*store, NamespaceQuery::new("t")).await?;
    same("a missing thread has no namespaces", Vec::<String>::new(), none)?;
    let mut writer = Writer::new(&store, "t");
    writer.raise_epoch().await?;
    let none = named(&*store, NamespaceQuery::new("t")).await?;
    same("a thread without checkpoints has no namespaces", Vec::<String>::new(), none)?;
    let mut expected = Vec::new();
    for name in ["child", "child|1", "b"] {
        let mut inner = writer.in_namespace(name);
        inner.add("a=1").await?;
        let head = inner.add("a=2").await?;
        expected.push((name.to_owned(), Ok(inner.read(head).await?.checkpoint)));
    }
    expected.sort_by(|(a, _), (b, _)| a.cmp(b));
    let mut other = Writer::new(&store, "other");
    other.add("a=1").await?;
    let page = store.namespaces(NamespaceQuery::new("t")).await.works("namespaces can be listed")?;
    let found: Vec<_> = page.items.into_iter().map(|item| (item.namespace.to_string(), item.head)).collect();
    same("a namespace is listed with its head", expected, found)?;
    let found = named(&*store, NamespaceQuery::new("other")).await?;
    same("a list has the namespaces of one thread", vec![String::new()], found)
}

pub(crate) async fn namespaces_are_paged_in_byte_order(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let writer = Writer::new(&store, "t\0");
    let mut all = names();
    all.extend((0..30).map(|n| format!("call-{n}")));
    for name in all.iter().rev() {
        writer.in_namespace(name).add("a=1").await?;
    }
    all.sort();
    let query = || NamespaceQuery::new("t\0");
    for limit in [None, Some(1), Some(7), Some(all.len()), Some(1000)] {
        let found = named(&*store, query().limit(limit)).await?;
        same(format!("namespaces are listed in byte order, in pages of {limit:?}"), &all, &found)?;
    }
    for prefix in ["", "a", "A", "a\0", "%", "_", "call-", "call-1", "\u{1F980}", "nothing"] {
        for after in [None, Some(""), Some("a%"), Some("call-15"), Some("zzz")] {
            let mut query = query().prefix(prefix).limit(5);
            query.after = after.map(Into::into);
            let fits =
                |name: &&String| name.starts_with(prefix) && after.is_none_or(|after| name.as_str() > after);
            let expected: Vec<_> = all.iter().filter(fits).cloned().collect();
            let promise = format!("a prefix is a string, not a pattern: {query:?}");
            same(promise, expected, named(&*store, query).await?)?;
        }
    }
    let none = store.namespaces(query().limit(0)).await;
    same("a page with a limit of 0 is empty", 0, none.works("a limit may be 0")?.items.len())
}
