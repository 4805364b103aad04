//! Namespaces are lists, and different lists are different namespaces.

use superstep_store::store::{ItemWrite, Namespace};

use crate::Broken;
use crate::cases::names::names;
use crate::expect::same;
use crate::store::case::Target;
use crate::store::fixture::{Fixture, at, put};

/// Returns lists that are often confused with each other or with nested ones.
fn lists() -> Vec<Namespace> {
    let lists: [&[&str]; 48] = [
        &[],
        &[""],
        &["", ""],
        &["", "", ""],
        &["a"],
        &["a", ""],
        &["", "a"],
        &["a", "b"],
        &["a", "b", "c"],
        &["a", "b.c"],
        &["a.b", "c"],
        &["a.b.c"],
        &["a", "b/c"],
        &["a/b", "c"],
        &["a/b/c"],
        &["a:b"],
        &["a", "b:c"],
        &["ab"],
        &["ab", "c"],
        &["abc"],
        &["user", "1"],
        &["user", "10"],
        &["user", "1", "notes"],
        &["user1"],
        &["user", "1 "],
        &["user", "\u{ff11}"],
        &["a\0"],
        &["a\0", "b"],
        &["a\0b"],
        &["a", "\0"],
        &["a", "\0b"],
        &["\0"],
        &["\0", "\0"],
        &["\0\0"],
        &["a\u{1}"],
        &["a\u{1}", "b"],
        &["a\u{0}\u{1}", "b"],
        &["[\"a\"", "\"b\"]"],
        &["[\"a\",\"b\"]"],
        &["a\",\"b"],
        &["a%"],
        &["a_"],
        &["%"],
        &["_"],
        &["*"],
        &["'a'"],
        &["A"],
        &["\u{10ffff}"],
    ];
    lists.into_iter().map(Namespace::from).collect()
}

/// Puts an item under the same key in each namespace.
async fn prepare(target: Target<'_>) -> Result<(Fixture, Vec<Namespace>), Broken> {
    let fixture = target.open().await?;
    for (n, list) in lists().iter().enumerate() {
        same("a new namespace is empty", false, fixture.put(&at(list, "k"), &n.to_string()).await?)?;
    }
    Ok((fixture, lists()))
}

pub(crate) async fn similar_namespaces_are_distinct(target: Target<'_>) -> Result<(), Broken> {
    let (fixture, lists) = prepare(target).await?;
    for (n, list) in lists.iter().enumerate() {
        let read = fixture.read(&at(list, "k")).await?;
        same(format!("a namespace has its own items: {list}"), Some(n.to_string()), read)?;
    }
    for list in &lists {
        same(
            format!("a deletion finds the item of its namespace: {list}"),
            true,
            fixture.delete(&at(list, "k")).await?,
        )?;
        same(
            format!("a deletion affects no other namespace: {list}"),
            false,
            fixture.delete(&at(list, "k")).await?,
        )?;
    }
    Ok(())
}

pub(crate) async fn prefix_matches_whole_segments(target: Target<'_>) -> Result<(), Broken> {
    let (fixture, mut lists) = prepare(target).await?;
    lists.sort();
    for prefix in &lists {
        let (found, _) = fixture.found(fixture.within(prefix)).await?;
        let found: Vec<_> = found.into_iter().map(|at| at.namespace).collect();
        let expected: Vec<_> = lists.iter().filter(|list| list.is_within(prefix)).cloned().collect();
        same(
            format!("a search inside {prefix} finds the namespaces with these first segments"),
            expected.clone(),
            found,
        )?;
        let query = all(&fixture).prefix(prefix.clone());
        same(
            format!("a list inside {prefix} has the same namespaces"),
            expected,
            fixture.namespaces(query).await?.items,
        )?;
        let mut search = fixture.within(prefix);
        search.within = false;
        let (found, _) = fixture.found(search).await?;
        same(
            format!("a search without nested namespaces finds {prefix} only"),
            vec![at(prefix, "k")],
            found,
        )?;
    }
    Ok(())
}

fn all(fixture: &Fixture) -> superstep_store::store::NamespaceQuery {
    superstep_store::store::NamespaceQuery::new(fixture.now)
}

pub(crate) async fn segments_and_keys_may_be_any_string(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    let mut expected = Vec::new();
    let mut writes = Vec::new();
    for name in names() {
        let segment = at(["s", &name], "k");
        let key = at("k", &name);
        writes.push(put(&segment, &format!("{:?}", name.len())));
        writes.push(put(&key, &format!("{:?}", name.len())));
        expected.extend([segment, key]);
    }
    expected.sort();
    same("each name is a separate item", vec![false; writes.len()], fixture.write(writes).await?)?;
    let (found, _) = fixture.found(fixture.within(Namespace::root())).await?;
    same("names read back unchanged and in byte order", expected, found)?;
    for name in names() {
        for at in [at(["s", &name], "k"), at("k", &name)] {
            same(
                "an item is found by its name",
                Some(format!("{:?}", name.len())),
                fixture.read(&at).await?,
            )?;
            same(
                "an item is deleted by its name",
                vec![true],
                fixture.write(vec![ItemWrite::Delete(at)]).await?,
            )?;
        }
    }
    Ok(())
}
