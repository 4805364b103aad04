//! Random calls, which must return the same results as the store in memory.

use std::time::Duration;

use superstep_store::payload::Payload;
use superstep_store::store::{
    Condition, Embedding, Get, ItemKey, ItemWrite, ItemWrites, MemoryStore, Namespace, NamespaceQuery, Near,
    Order, Put, Search, Store, Test, Ttl,
};

use crate::Broken;
use crate::expect::{Expect as _, same};
use crate::rng::Rng;
use crate::store::case::Target;
use crate::store::fixture::Fixture;

const SEGMENTS: [&str; 6] = ["a", "b", "a.b", "", "\0", "1"];
const KEYS: [&str; 5] = ["k", "l", "k\0", "", "\u{e9}"];
const VALUES: [&str; 6] = ["1", "{\"f\":1}", "{\"f\":\"1\"}", "{\"f\":2.5}", "{\"f\":null}", "[]"];

fn namespace(rng: &mut Rng) -> Namespace {
    (0..rng.below(4)).filter_map(|_| rng.pick(&SEGMENTS)).collect()
}

fn key(rng: &mut Rng) -> ItemKey {
    ItemKey::new(namespace(rng), rng.pick(&KEYS).unwrap_or_default())
}

fn vector(rng: &mut Rng) -> Vec<f32> {
    [0; 3].map(|_| [-1.0, 0.0, 0.5, 1.0].get(rng.below(4)).copied().unwrap_or_default()).to_vec()
}

fn write(rng: &mut Rng) -> ItemWrite {
    if rng.one_in(4) {
        return ItemWrite::Delete(key(rng));
    }
    let value = Payload::json(rng.pick(&VALUES).unwrap_or_default());
    let ttl = if rng.one_in(2) { Ttl::from_millis(rng.below(5_000) as u64) } else { None };
    let vectors = (0..rng.below(3)).map(|_| vector(rng)).collect();
    ItemWrite::Put(Box::new(Put::new(key(rng), value).ttl(ttl).embedding(Embedding::new("m", vectors).ok())))
}

fn limit(rng: &mut Rng) -> Option<usize> {
    if rng.one_in(3) { None } else { Some(rng.below(6)) }
}

fn search(rng: &mut Rng, fixture: &Fixture) -> Search {
    let tests = [Test::Equal, Test::NotEqual, Test::Greater, Test::AtMost];
    let conditions = (0..rng.below(2))
        .filter_map(|_| Condition::new("f", rng.pick(&tests)?, &rng.below(3)).ok())
        .collect();
    let near = if rng.one_in(3) { Near::new("m", vector(rng)).ok() } else { None };
    fixture
        .within(namespace(rng))
        .within(!rng.one_in(4))
        .conditions(conditions)
        .near(near)
        .order(if rng.one_in(2) { Order::Name } else { Order::Newest })
        .offset(rng.below(4))
        .limit(limit(rng))
        .refresh(rng.one_in(4))
}

pub(crate) async fn random_calls_match_the_model(target: Target<'_>) -> Result<(), Broken> {
    let mut fixture = target.open().await?;
    let model = MemoryStore::new();
    for seed in 0..1_500 {
        let mut rng = Rng(seed);
        fixture.now += Duration::from_millis(rng.below(400) as u64);
        let now = fixture.now;
        match rng.below(10) {
            0..4 => {
                let writes: Vec<_> = (0..rng.below(5)).map(|_| write(&mut rng)).collect();
                let expected =
                    model.write(ItemWrites::new(now, writes.clone())).await.works("the model writes")?;
                same(format!("call {seed}: {writes:?}"), expected, fixture.write(writes).await?)?;
            }
            4 | 5 => {
                let keys: Vec<_> = (0..rng.below(6)).map(|_| key(&mut rng)).collect();
                let refresh = rng.one_in(3);
                let expected =
                    model.get(Get::new(now, keys.clone()).refresh(refresh)).await.works("the model reads")?;
                same(format!("call {seed}: {keys:?}"), expected, fixture.items(keys, refresh).await?)?;
            }
            6..9 => {
                let search = search(&mut rng, &fixture);
                let expected = model.search(search.clone()).await.works("the model searches")?;
                same(format!("call {seed}: {search:?}"), expected, fixture.search(search).await?)?;
            }
            _ => {
                let max_depth = if rng.one_in(2) { None } else { Some(rng.below(3)) };
                let suffix = if rng.one_in(3) { namespace(&mut rng) } else { Namespace::root() };
                let (offset, limit) = (rng.below(3), limit(&mut rng));
                let query = NamespaceQuery::new(now)
                    .prefix(namespace(&mut rng))
                    .suffix(suffix)
                    .max_depth(max_depth)
                    .offset(offset)
                    .limit(limit);
                let expected = model.namespaces(query.clone()).await.works("the model lists")?;
                same(format!("call {seed}: {query:?}"), expected, fixture.namespaces(query).await?)?;
            }
        }
    }
    // Stores may sweep at different times, but the remaining items must be equal.
    let end = Fixture { now: fixture.now + Duration::from_secs(10), ..fixture };
    let expected = model.search(Search::new(end.now, Namespace::root())).await.works("the model searches")?;
    end.delete_expired().await?;
    same("the same items remain after a sweep", expected, end.search(end.within(Namespace::root())).await?)
}
