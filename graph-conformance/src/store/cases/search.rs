//! Results of searches and their order.

use superstep_store::store::{ItemKey, Order};

use crate::Broken;
use crate::expect::same;
use crate::store::case::Target;
use crate::store::fixture::{Fixture, at};

const KEYS: [&str; 7] = ["a", "B", "\u{e9}", "", "aa", "10", "9"];

async fn prepare(target: Target<'_>) -> Result<Fixture, Broken> {
    let fixture = target.open().await?;
    for (n, key) in KEYS.iter().enumerate() {
        fixture.later(n as u64 / 2).put(&at("n", key), "1").await?;
    }
    Ok(fixture.later(60))
}

pub(crate) async fn search_returns_items_in_name_order(target: Target<'_>) -> Result<(), Broken> {
    let fixture = prepare(target).await?;
    let promise = "items are in the byte order of their keys";
    same(
        promise,
        ["", "10", "9", "B", "a", "aa", "\u{e9}"].map(str::to_owned).to_vec(),
        fixture.keys(fixture.within("n")).await?,
    )?;
    fixture.put(&at(["n", "in"], "0"), "1").await?;
    fixture.put(&at("m", "z"), "1").await?;
    fixture.put(&at("9", "z"), "1").await?;
    let (found, _) = fixture.found(fixture.within([""; 0])).await?;
    let namespaces: Vec<_> = found.iter().map(|at| at.namespace.to_string()).collect();
    let mut expected = vec!["[\"9\"]".to_owned(), "[\"m\"]".to_owned()];
    expected.extend(vec!["[\"n\"]".to_owned(); 7]);
    expected.push("[\"n\", \"in\"]".to_owned());
    same("a namespace comes before the namespaces inside it", expected, namespaces)
}

pub(crate) async fn newest_order_returns_the_newest_first(target: Target<'_>) -> Result<(), Broken> {
    let fixture = prepare(target).await?;
    let newest = |fixture: &Fixture| fixture.within("n").order(Order::Newest);
    let expected = ["9", "10", "aa", "", "\u{e9}", "B", "a"].map(str::to_owned).to_vec();
    same(
        "the newest items come first, and items of one time are ordered by name",
        expected,
        fixture.keys(newest(&fixture)).await?,
    )?;
    fixture.put(&at("n", "a"), "2").await?;
    let first = fixture.keys(newest(&fixture).limit(1)).await?;
    same("an item that is written again is the newest", vec!["a".to_owned()], first)
}

pub(crate) async fn pages_have_no_gaps_or_repeats(target: Target<'_>) -> Result<(), Broken> {
    let fixture = prepare(target).await?;
    for order in [Order::Name, Order::Newest] {
        let all = fixture.keys(fixture.within("n").order(order)).await?;
        for limit in 0..9 {
            for offset in 0..9 {
                let search = fixture.within("n").order(order).offset(offset).limit(limit);
                let page = fixture.search(search).await?;
                let keys: Vec<_> = page.items.iter().map(|found| found.key.to_string()).collect();
                let expected: Vec<_> = all.iter().skip(offset).take(limit).cloned().collect();
                same(format!("a page of {limit} after {offset}"), expected, keys)?;
                let more = offset + limit < all.len();
                same(format!("`more` is exact for a page of {limit} after {offset}"), more, page.more)?;
            }
        }
    }
    let after_the_end = fixture.found(fixture.within("n").offset(usize::MAX).limit(usize::MAX)).await?;
    same("a page after the last item is empty", (vec![], false), after_the_end)
}

pub(crate) async fn search_continues_after_a_name(target: Target<'_>) -> Result<(), Broken> {
    let fixture = prepare(target).await?;
    for namespace in [&["n", "in"] as &[&str], &["m"], &["n\u{0}"]] {
        for key in ["", "a", "z"] {
            fixture.put(&at(namespace, key), "1").await?;
        }
    }
    let mut names = fixture.found(fixture.within([""; 0])).await?.0;
    // Names without an item, before, between and after the others.
    names.extend([at(["a"], "k"), at(["m"], "b"), at(["n"], "a\u{0}"), at(["n", "a"], ""), at(["z"], "")]);
    for after in &names {
        for (outer, within) in
            [(&[] as &[&str], true), (&["n"], true), (&["n"], false), (&["n", "in"], false)]
        {
            for order in [Order::Name, Order::Newest] {
                let search = || fixture.within(outer).within(within).order(order);
                let all = fixture.found(search()).await?.0;
                let expected: Vec<_> = all.into_iter().filter(|at| at > after).collect();
                let found = fixture.found(search().after(after.clone())).await?.0;
                same(format!("the items inside {outer:?} after {after:?}"), expected, found)?;
            }
        }
    }
    let (mut pages, mut last) = (Vec::new(), None);
    loop {
        let page = fixture.search(fixture.within("n").after(last.clone()).limit(2)).await?;
        let names =
            page.items.iter().map(|found| ItemKey::new(found.item.namespace.clone(), &*found.item.key));
        pages.extend(names);
        last = pages.last().cloned();
        if !page.more {
            break;
        }
        // A new first item does not move the next page.
        fixture.put(&at("n", "!"), "1").await?;
    }
    let all = fixture.found(fixture.within("n")).await?.0;
    let all: Vec<_> = all.into_iter().filter(|at| &*at.key != "!").collect();
    same("pages after the last item of the page before have each item once", all, pages)
}

pub(crate) async fn nested_namespaces_can_be_excluded(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    for namespace in [&["a"] as &[&str], &["a", "b"], &["a", "b", "c"], &["ab"]] {
        fixture.put(&at(namespace, "k"), "1").await?;
    }
    let found = async |within| {
        let found = fixture.found(fixture.within(["a", "b"]).within(within)).await?.0;
        Ok::<_, Broken>(found.iter().map(|at| at.namespace.segments().len()).collect::<Vec<_>>())
    };
    same("nested namespaces are searched", vec![2, 3], found(true).await?)?;
    same("nested namespaces can be excluded", vec![2], found(false).await?)
}
