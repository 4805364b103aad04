//! Random calls, of which each is answered as the store in memory answers it.

use std::time::Duration;

use superstep_store::payload::Payload;
use superstep_store::store::{
    Condition, Embedding, Get, ItemKey, ItemWrite, ItemWrites, MemoryStore, Namespace, NamespaceQuery, Near,
    Order, Put, Search, Store, Test, Ttl,
};

use crate::Broken;
use crate::dice::Dice;
use crate::expect::same;
use crate::store::case::Here;
use crate::store::desk::{Desk, Works};

const SEGMENTS: [&str; 6] = ["a", "b", "a.b", "", "\0", "1"];
const KEYS: [&str; 5] = ["k", "l", "k\0", "", "\u{e9}"];
const VALUES: [&str; 6] = ["1", "{\"f\":1}", "{\"f\":\"1\"}", "{\"f\":2.5}", "{\"f\":null}", "[]"];

fn namespace(dice: &mut Dice) -> Namespace {
    (0..dice.roll(4)).filter_map(|_| dice.pick(&SEGMENTS)).collect()
}

fn key(dice: &mut Dice) -> ItemKey {
    ItemKey::new(namespace(dice), dice.pick(&KEYS).unwrap_or_default())
}

fn vector(dice: &mut Dice) -> Vec<f32> {
    [0; 3].map(|_| [-1.0, 0.0, 0.5, 1.0].get(dice.roll(4)).copied().unwrap_or_default()).to_vec()
}

fn write(dice: &mut Dice) -> ItemWrite {
    if dice.one_in(4) {
        return ItemWrite::Delete(key(dice));
    }
    let value = Payload::json(dice.pick(&VALUES).unwrap_or_default());
    let ttl = if dice.one_in(2) { Ttl::from_millis(dice.roll(5_000) as u64) } else { None };
    let vectors = (0..dice.roll(3)).map(|_| vector(dice)).collect();
    ItemWrite::Put(Box::new(Put { at: key(dice), value, ttl, embedding: Embedding::new("m", vectors).ok() }))
}

fn limit(dice: &mut Dice) -> Option<usize> {
    if dice.one_in(3) { None } else { Some(dice.roll(6)) }
}

fn search(dice: &mut Dice, desk: &Desk) -> Search {
    let tests = [Test::Equal, Test::NotEqual, Test::Greater, Test::AtMost];
    let conditions = (0..dice.roll(2))
        .filter_map(|_| Condition::new("f", dice.pick(&tests)?, &dice.roll(3)).ok())
        .collect();
    let near = if dice.one_in(3) { Near::new("m", vector(dice)).ok() } else { None };
    Search {
        within: !dice.one_in(4),
        conditions,
        near,
        order: if dice.one_in(2) { Order::Name } else { Order::Newest },
        offset: dice.roll(4),
        limit: limit(dice),
        refresh: dice.one_in(4),
        ..desk.within(namespace(dice))
    }
}

pub(crate) async fn random_calls_are_answered_as_in_the_model(here: Here<'_>) -> Result<(), Broken> {
    let mut desk = here.open().await?;
    let model = MemoryStore::new();
    for seed in 0..1_500 {
        let mut dice = Dice(seed);
        desk.now += Duration::from_millis(dice.roll(400) as u64);
        let now = desk.now;
        match dice.roll(10) {
            0..4 => {
                let writes: Vec<_> = (0..dice.roll(5)).map(|_| write(&mut dice)).collect();
                let expected = model
                    .write(ItemWrites { now, writes: writes.clone() })
                    .await
                    .works("the model writes")?;
                same(format!("call {seed}: {writes:?}"), expected, desk.write(writes).await?)?;
            }
            4 | 5 => {
                let keys: Vec<_> = (0..dice.roll(6)).map(|_| key(&mut dice)).collect();
                let refresh = dice.one_in(3);
                let expected =
                    model.get(Get { now, keys: keys.clone(), refresh }).await.works("the model reads")?;
                same(format!("call {seed}: {keys:?}"), expected, desk.items(keys, refresh).await?)?;
            }
            6..9 => {
                let search = search(&mut dice, &desk);
                let expected = model.search(search.clone()).await.works("the model searches")?;
                same(format!("call {seed}: {search:?}"), expected, desk.search(search).await?)?;
            }
            _ => {
                let max_depth = if dice.one_in(2) { None } else { Some(dice.roll(3)) };
                let suffix = if dice.one_in(3) { namespace(&mut dice) } else { Namespace::root() };
                let (offset, limit) = (dice.roll(3), limit(&mut dice));
                let query =
                    NamespaceQuery { now, prefix: namespace(&mut dice), suffix, max_depth, offset, limit };
                let expected = model.namespaces(query.clone()).await.works("the model lists")?;
                same(format!("call {seed}: {query:?}"), expected, desk.namespaces(query).await?)?;
            }
        }
    }
    // How much was swept on the way is every store's own affair; what is left is not.
    let end = Desk { now: desk.now + Duration::from_secs(10), ..desk };
    let expected =
        model.search(Search::within(end.now, Namespace::root())).await.works("the model searches")?;
    end.sweep().await?;
    same("what is left after a sweep", expected, end.search(end.within(Namespace::root())).await?)
}
