//! Lists of namespaces.

use superstep_store::store::{Namespace, NamespaceQuery};

use crate::Broken;
use crate::expect::same;
use crate::store::case::Target;
use crate::store::fixture::{Fixture, at};

async fn prepare(target: Target<'_>) -> Result<Fixture, Broken> {
    let fixture = target.open().await?;
    let lists: [&[&str]; 6] = [
        &["users", "b", "notes"],
        &["users", "a", "notes"],
        &["users", "a", "facts"],
        &["users", "a"],
        &["teams", "x", "notes"],
        &[],
    ];
    for list in lists {
        for key in ["1", "2"] {
            fixture.put(&at(list, key), "1").await?;
        }
    }
    Ok(fixture)
}

async fn list(fixture: &Fixture, query: NamespaceQuery) -> Result<Vec<String>, Broken> {
    Ok(fixture.namespaces(query).await?.items.iter().map(plain).collect())
}

fn plain(namespace: &Namespace) -> String {
    namespace.segments().join("/")
}

const ALL: [&str; 6] = ["", "teams/x/notes", "users/a", "users/a/facts", "users/a/notes", "users/b/notes"];

pub(crate) async fn namespaces_are_listed_in_order(target: Target<'_>) -> Result<(), Broken> {
    let fixture = prepare(target).await?;
    let all = NamespaceQuery::new(fixture.now);
    same(
        "namespaces are listed once and in order",
        ALL.map(str::to_owned).to_vec(),
        list(&fixture, all.clone()).await?,
    )?;
    let within = all.prefix(["users", "a"]);
    let expected = ["users/a", "users/a/facts", "users/a/notes"].map(str::to_owned).to_vec();
    same("a prefix lists the namespace and those inside it", expected, list(&fixture, within).await?)
}

pub(crate) async fn namespaces_are_listed_by_suffix(target: Target<'_>) -> Result<(), Broken> {
    let fixture = prepare(target).await?;
    let notes = NamespaceQuery::new(fixture.now).suffix("notes");
    let expected = ["teams/x/notes", "users/a/notes", "users/b/notes"].map(str::to_owned).to_vec();
    same("a suffix matches the last segments", expected, list(&fixture, notes.clone()).await?)?;
    let both = notes.prefix("users").suffix(["a", "notes"]);
    same(
        "a namespace must match prefix and suffix",
        vec!["users/a/notes".to_owned()],
        list(&fixture, both).await?,
    )
}

pub(crate) async fn max_depth_lists_each_prefix_once(target: Target<'_>) -> Result<(), Broken> {
    let fixture = prepare(target).await?;
    for (depth, expected) in [
        (0, vec![""]),
        (1, vec!["", "teams", "users"]),
        (2, vec!["", "teams/x", "users/a", "users/b"]),
        (9, ALL.to_vec()),
    ] {
        let query = NamespaceQuery::new(fixture.now).max_depth(depth);
        let expected: Vec<_> = expected.into_iter().map(str::to_owned).collect();
        same(
            format!("namespaces are cut to {depth} segments and listed once"),
            expected,
            list(&fixture, query).await?,
        )?;
    }
    Ok(())
}

pub(crate) async fn namespaces_are_paged(target: Target<'_>) -> Result<(), Broken> {
    let fixture = prepare(target).await?;
    for max_depth in [None, Some(1)] {
        let query = NamespaceQuery::new(fixture.now).max_depth(max_depth);
        let all = fixture.namespaces(query.clone()).await?.items;
        for limit in 0..8 {
            for offset in 0..8 {
                let page = fixture.namespaces(query.clone().offset(offset).limit(limit)).await?;
                let expected: Vec<_> = all.iter().skip(offset).take(limit).cloned().collect();
                let more = offset + limit < all.len();
                same(format!("a page of {limit} after {offset}"), (expected, more), (page.items, page.more))?;
            }
        }
    }
    Ok(())
}

pub(crate) async fn empty_namespace_is_not_listed(target: Target<'_>) -> Result<(), Broken> {
    let fixture = prepare(target).await?;
    fixture.delete(&at(["users", "a"], "1")).await?;
    same(
        "a namespace with an item is listed",
        ALL.len(),
        list(&fixture, NamespaceQuery::new(fixture.now)).await?.len(),
    )?;
    fixture.delete(&at(["users", "a"], "2")).await?;
    let left: Vec<_> = ALL.into_iter().filter(|name| *name != "users/a").map(str::to_owned).collect();
    same(
        "a namespace without items is not listed",
        left,
        list(&fixture, NamespaceQuery::new(fixture.now)).await?,
    )
}
