//! Semantic search finds the same items with and without the extension pgvector: those of the store in memory.

use std::io::Write as _;
use std::time::{Duration, UNIX_EPOCH};

use superstep_conformance::block_on;
use superstep_store::payload::Payload;
use superstep_store::store::{
    Condition, Embedding, ItemKey, ItemWrites, MemoryStore, Near, Order, Put, Search, Store, Test,
};

use crate::fixture::{Schema, url};

/// Installs the extension if the server has it.
fn install(schema: &Schema) -> bool {
    let available = schema.rows("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'").len() == 1;
    if available {
        schema.execute("CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public");
    } else {
        let _ = writeln!(
            std::io::stderr(),
            "SKIPPED: search with pgvector, because the server does not have the extension"
        );
    }
    available
}

/// Returns numbers that look random, and are the same in each run.
fn numbers(seed: u64, count: usize) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        f32::from(i16::try_from(state % 2_001).unwrap() - 1_000) / 1_000.0
    };
    (0..count).map(|_| next()).collect()
}

fn put(n: u64) -> Put {
    let at = ItemKey::new(["n", &(n % 5).to_string()], n.to_string());
    // Some vectors are equal, some have extreme lengths, and some items have several or none.
    let vectors = match n % 11 {
        0 => vec![],
        1 => vec![numbers(7, 32)],
        2 => vec![vec![0.0; 32]],
        3 => vec![vec![f32::MAX; 32]],
        4 => vec![numbers(n, 32).into_iter().map(|number| number * 1e-30).collect()],
        5 => vec![numbers(n, 32), numbers(n + 1, 32)],
        _ => vec![numbers(n, 32)],
    };
    Put::new(at, Payload::json(format!("{{\"n\":{}}}", n % 4))).embedding(Embedding::new("m", vectors).ok())
}

#[test]
fn semantic_search_finds_the_same_items_as_in_memory() {
    let Some(url) = url() else { return };
    let schema = Schema::new();
    let store = block_on(schema.options().connect_store(url)).unwrap();
    install(&schema);
    let memory = MemoryStore::new();
    let now = UNIX_EPOCH + Duration::from_secs(60);
    block_on(async {
        for part in 0..4_u64 {
            let now = UNIX_EPOCH + Duration::from_secs(part);
            let writes: Vec<_> = (part * 100..part * 100 + 100).map(|n| put(n).into()).collect();
            memory.write(ItemWrites::new(now, writes.clone())).await.unwrap();
            store.write(ItemWrites::new(now, writes)).await.unwrap();
        }
        let equal = Condition::new("n", Test::Equal, &1).unwrap();
        for seed in [7, 8, 9, 100] {
            for (namespace, limit, offset) in
                [("n", Some(10), 0), ("n", Some(3), 50), ("n", Some(0), 0), ("n", None, 5)]
            {
                for conditions in [vec![], vec![equal.clone()]] {
                    for order in [Order::Name, Order::Newest] {
                        let near = Near::new("m", numbers(seed, 32)).unwrap();
                        let search =
                            Search::new(now, namespace).near(near).order(order).limit(limit).offset(offset);
                        let search = search.conditions(conditions.clone());
                        let expected = memory.search(search.clone()).await.unwrap();
                        assert_eq!(
                            store.search(search).await.unwrap(),
                            expected,
                            "{seed} {limit:?} {offset} {order:?}"
                        );
                    }
                }
            }
        }
        let zero = Near::new("m", vec![0.0; 32]).unwrap();
        let search = Search::new(now, "n").near(zero).limit(5);
        assert_eq!(store.search(search.clone()).await.unwrap(), memory.search(search).await.unwrap());
    });
}
