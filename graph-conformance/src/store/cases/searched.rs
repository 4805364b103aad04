//! Which items are found, and in which order.

use superstep_store::store::{Order, Search};

use crate::Broken;
use crate::expect::same;
use crate::store::case::Here;
use crate::store::desk::{Desk, at};

const KEYS: [&str; 7] = ["a", "B", "\u{e9}", "", "aa", "10", "9"];

async fn filled(here: Here<'_>) -> Result<Desk, Broken> {
    let desk = here.open().await?;
    for (n, key) in KEYS.iter().enumerate() {
        desk.later(n as u64 / 2).put(&at("n", key), "1").await?;
    }
    Ok(desk.later(60))
}

pub(crate) async fn what_is_found_is_in_the_order_of_names(here: Here<'_>) -> Result<(), Broken> {
    let desk = filled(here).await?;
    let promise = "items are in the order of the bytes of their keys";
    same(
        promise,
        ["", "10", "9", "B", "a", "aa", "\u{e9}"].map(str::to_owned).to_vec(),
        desk.keys(desk.within("n")).await?,
    )?;
    desk.put(&at(["n", "in"], "0"), "1").await?;
    desk.put(&at("m", "z"), "1").await?;
    desk.put(&at("9", "z"), "1").await?;
    let (found, _) = desk.found(desk.within([""; 0])).await?;
    let namespaces: Vec<_> = found.iter().map(|at| at.namespace.to_string()).collect();
    let mut expected = vec!["[\"9\"]".to_owned(), "[\"m\"]".to_owned()];
    expected.extend(vec!["[\"n\"]".to_owned(); 7]);
    expected.push("[\"n\", \"in\"]".to_owned());
    same("namespaces come before what is further in", expected, namespaces)
}

pub(crate) async fn the_newest_come_first_where_that_is_asked(here: Here<'_>) -> Result<(), Broken> {
    let desk = filled(here).await?;
    let newest = |desk: &Desk| Search { order: Order::Newest, ..desk.within("n") };
    let expected = ["9", "10", "aa", "", "\u{e9}", "B", "a"].map(str::to_owned).to_vec();
    same("the newest come first, of one time by name", expected, desk.keys(newest(&desk)).await?)?;
    desk.put(&at("n", "a"), "2").await?;
    let first = desk.keys(Search { limit: Some(1), ..newest(&desk) }).await?;
    same("what is written again is the newest", vec!["a".to_owned()], first)
}

pub(crate) async fn pages_have_neither_gap_nor_repeat(here: Here<'_>) -> Result<(), Broken> {
    let desk = filled(here).await?;
    for order in [Order::Name, Order::Newest] {
        let all = desk.keys(Search { order, ..desk.within("n") }).await?;
        for limit in 0..9 {
            for offset in 0..9 {
                let search = Search { order, offset, limit: Some(limit), ..desk.within("n") };
                let page = desk.search(search).await?;
                let keys: Vec<_> = page.items.iter().map(|found| found.key.to_string()).collect();
                let expected: Vec<_> = all.iter().skip(offset).take(limit).cloned().collect();
                same(format!("a page of {limit} behind {offset}"), expected, keys)?;
                let more = offset + limit < all.len();
                same(format!("whether more is behind a page of {limit} behind {offset}"), more, page.more)?;
            }
        }
    }
    let behind =
        desk.found(Search { offset: usize::MAX, limit: Some(usize::MAX), ..desk.within("n") }).await?;
    same("nothing is behind everything", (vec![], false), behind)
}

pub(crate) async fn what_is_further_in_can_be_left_out(here: Here<'_>) -> Result<(), Broken> {
    let desk = here.open().await?;
    for namespace in [&["a"] as &[&str], &["a", "b"], &["a", "b", "c"], &["ab"]] {
        desk.put(&at(namespace, "k"), "1").await?;
    }
    let found = async |within| {
        let found = desk.found(Search { within, ..desk.within(["a", "b"]) }).await?.0;
        Ok::<_, Broken>(found.iter().map(|at| at.namespace.segments().len()).collect::<Vec<_>>())
    };
    same("what is further in is found", vec![2, 3], found(true).await?)?;
    same("what is further in can be left out", vec![2], found(false).await?)
}
