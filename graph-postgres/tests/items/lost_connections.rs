//! Connections that end while calls use them. No acknowledged write is lost, and none is made twice.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use superstep_conformance::block_on;
use superstep_store::cache::{Cache as _, Clear, EntryKey, NewEntry};
use superstep_store::payload::Payload;
use superstep_store::store::{Get, ItemKey, ItemWrite, ItemWrites, Search, Store as _};

use crate::fixture::{Schema, url};
use crate::proxy::{COMMIT, Cut, Proxy};

/// Ends the connections of a program once for each call that it begins, at any time during the call. Returns their number.
fn terminate(schema: &Schema, program: &str, begun: &AtomicU32) -> usize {
    let statement = format!(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '{program}'"
    );
    let (mut ended, mut seen) = (0, 0);
    while seen < COUNT {
        let now = begun.load(Ordering::SeqCst);
        if now == seen {
            std::thread::yield_now();
            continue;
        }
        seen = now;
        ended += schema.rows(&statement).len();
    }
    ended
}

/// The number of calls.
const COUNT: u32 = 60;

fn url_of(program: &str) -> String {
    let url = url().unwrap();
    format!("{url}{}application_name={program}", if url.contains('?') { '&' } else { '?' })
}

#[test]
fn writes_are_made_once_although_connections_end() {
    if url().is_none() {
        return;
    }
    let schema = Schema::new();
    let program = format!("superstep-items-{}", std::process::id());
    let store = block_on(schema.options().connect_store(&url_of(&program))).unwrap();
    let at = |n: u32| ItemKey::new("n", n.to_string());
    let now = UNIX_EPOCH + Duration::from_secs(60);
    let begun = AtomicU32::new(0);
    let ended = std::thread::scope(|scope| {
        let terminator = scope.spawn(|| terminate(&schema, &program, &begun));
        for n in 0..COUNT {
            begun.store(n + 1, Ordering::SeqCst);
            // The answer would be `true` if the write were made twice. The deletion finds the previous item once.
            let mut writes = vec![ItemWrite::put(at(n), Payload::json(n.to_string()))];
            writes
                .extend(n.checked_sub(1).filter(|before| before % 2 == 0).map(|n| ItemWrite::Delete(at(n))));
            let count = writes.len();
            let existed = block_on(store.write(ItemWrites::new(now, writes))).unwrap();
            assert_eq!(existed, [false, true][..count], "write {n}");
            let item = block_on(store.get(Get::new(now, vec![at(n)]))).unwrap();
            assert!(item[0].is_some(), "write {n} was acknowledged");
        }
        terminator.join().unwrap()
    });
    assert!(ended > 0, "no connection was ended");
    let found = block_on(store.search(Search::new(now, "n"))).unwrap().items.len();
    assert_eq!(found, COUNT as usize / 2);
}

#[test]
fn lost_answer_of_a_commit_is_looked_up() {
    if url().is_none() {
        return;
    }
    let schema = Schema::new();
    let proxy = Proxy::start();
    let store = block_on(schema.options().connect_store(&proxy.url)).unwrap();
    let now = UNIX_EPOCH + Duration::from_secs(60);
    for n in 0..20_u64 {
        let at = ItemKey::new("n", n.to_string());
        let put = |value: &str| ItemWrites::new(now, vec![ItemWrite::put(at.clone(), Payload::json(value))]);
        let cut = if n % 2 == 0 { Cut::After } else { Cut::Before };
        proxy.cut(COMMIT, cut);
        assert_eq!(block_on(store.write(put("1"))).unwrap(), [false], "{cut:?}");
        assert!(proxy.has_cut(), "{cut:?}");
        let item = block_on(store.get(Get::new(now, vec![at.clone()]))).unwrap();
        assert!(item[0].is_some(), "{cut:?}");
        proxy.cut(COMMIT, cut);
        let cache = store.cache();
        let entry = EntryKey::new("graph", "node", "state", n.to_string());
        block_on(cache.put(vec![NewEntry::new(entry.clone(), Payload::json("1"))], now)).unwrap();
        assert!(proxy.has_cut(), "{cut:?}");
        proxy.cut(COMMIT, cut);
        assert_eq!(block_on(cache.clear(Clear::All)).unwrap(), 1, "{cut:?}");
    }
    assert_eq!(block_on(store.search(Search::new(now, "n"))).unwrap().items.len(), 20);
}
