//! The suite for caches detects faults: each faulty cache fails the case for its fault.

use std::future::poll_fn;
use std::task::Poll;
use std::time::{Duration, SystemTime};

use superstep_conformance::block_on;
use superstep_conformance::cache::{TestCache, run};
use superstep_store::cache::{Cache, CacheError, CacheFuture, Clear, EntryKey, MemoryCache, NewEntry};
use superstep_store::payload::Payload;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    StoresNothing,
    JoinsNames,
    IgnoresTheState,
    TruncatesKeys,
    ReversesPuts,
    NeverExpires,
    ReturnsExpiredResults,
    ReturnsFutureResults,
    ClearsTooMuch,
    ClearsNothing,
    SplitsPuts,
    ForgetsWhenClosed,
    LosesEncodings,
    AcknowledgesRefusedResults,
}

#[derive(Clone)]
struct Faulty {
    fault: Fault,
    cache: MemoryCache,
}

impl Faulty {
    fn new(fault: Fault) -> Self {
        Self { fault, cache: MemoryCache::new() }
    }

    fn is(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    fn at(&self, mut at: EntryKey) -> EntryKey {
        match self.fault {
            Fault::JoinsNames => {
                at.node = format!("{}{}", at.graph, at.node).into();
                at.graph = "".into();
            }
            Fault::IgnoresTheState => at.state = "".into(),
            Fault::TruncatesKeys => at.key = at.key.chars().take(1_000).collect::<String>().into(),
            _ => {}
        }
        at
    }

    fn tampered(&self, entry: NewEntry) -> NewEntry {
        let NewEntry { at, mut value, ttl, .. } = entry;
        if self.is(Fault::LosesEncodings) {
            value = Payload::new(superstep_store::payload::Encoding::Json, value.bytes());
        }
        NewEntry::new(self.at(at), value).ttl(ttl.filter(|_| !self.is(Fault::NeverExpires)))
    }
}

/// Yields to other tasks of this thread.
async fn pause() {
    let mut waited = false;
    poll_fn(|cx| {
        cx.waker().wake_by_ref();
        if std::mem::replace(&mut waited, true) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

impl Cache for Faulty {
    fn get(&self, at: EntryKey, now: SystemTime) -> CacheFuture<'_, Option<Payload>> {
        Box::pin(async move {
            let at = self.at(at);
            let found = match self.fault {
                Fault::ReturnsExpiredResults => self.cache.get(at, now - Duration::from_millis(1)).await?,
                Fault::ReturnsFutureResults => match self.cache.get(at.clone(), now).await? {
                    None => self.cache.get(at, now + Duration::from_millis(1)).await?,
                    found => found,
                },
                _ => self.cache.get(at, now).await?,
            };
            Ok(found)
        })
    }

    fn put(&self, entries: Vec<NewEntry>, now: SystemTime) -> CacheFuture<'_, ()> {
        Box::pin(async move {
            let mut entries: Vec<_> = entries.into_iter().map(|entry| self.tampered(entry)).collect();
            match self.fault {
                Fault::StoresNothing => entries.clear(),
                Fault::ReversesPuts => entries.reverse(),
                Fault::SplitsPuts => {
                    for entry in entries.into_iter().rev() {
                        self.cache.put(vec![entry], now).await?;
                        pause().await;
                    }
                    return Ok(());
                }
                _ => {}
            }
            let put = self.cache.put(entries, now).await;
            if self.is(Fault::AcknowledgesRefusedResults) { Ok(()) } else { put }
        })
    }

    fn clear(&self, which: Clear) -> CacheFuture<'_, u64> {
        match (self.fault, which) {
            (Fault::ClearsTooMuch, Clear::Node { graph, .. }) => self.cache.clear(Clear::graph(graph)),
            (Fault::ClearsTooMuch, Clear::Graph(_)) => self.cache.clear(Clear::All),
            (Fault::ClearsNothing, _) => Box::pin(async { Ok(0) }),
            (_, which) => self.cache.clear(which),
        }
    }
}

struct FaultyTestCache(Faulty);

impl TestCache for FaultyTestCache {
    type Cache = Faulty;

    async fn open(&self) -> Result<Faulty, CacheError> {
        Ok(if self.0.is(Fault::ForgetsWhenClosed) { Faulty::new(self.0.fault) } else { self.0.clone() })
    }
}

/// Checks that a case passes without the fault and fails with it.
#[track_caller]
fn check(fault: Fault, area: &str, case: &str) {
    let sound = block_on(run(area, case, &FaultyTestCache(Faulty::new(Fault::None))));
    assert_eq!(sound, Ok(()));
    let broken = block_on(run(area, case, &FaultyTestCache(Faulty::new(fault))));
    assert!(broken.is_err(), "{area}::{case} does not detect the fault {fault:?}");
}

#[test]
fn each_fault_fails_its_case() {
    for (fault, area, case) in [
        (Fault::StoresNothing, "results", "result_reads_back_unchanged"),
        (Fault::LosesEncodings, "results", "result_reads_back_unchanged"),
        (Fault::ReversesPuts, "results", "puts_are_made_in_order"),
        (Fault::JoinsNames, "names", "similar_keys_are_distinct"),
        (Fault::IgnoresTheState, "names", "similar_keys_are_distinct"),
        (Fault::TruncatesKeys, "names", "long_keys_are_not_truncated"),
        (Fault::NeverExpires, "ttl", "expired_result_is_not_found"),
        (Fault::ReturnsExpiredResults, "ttl", "expired_result_is_not_found"),
        (Fault::ReturnsFutureResults, "ttl", "result_is_not_found_before_its_put_time"),
        (Fault::ClearsTooMuch, "clear", "clear_graph_removes_only_its_results"),
        (Fault::ClearsTooMuch, "clear", "clear_node_removes_only_its_results"),
        (Fault::ClearsNothing, "clear", "clear_expired_removes_only_expired_results"),
        (Fault::SplitsPuts, "handles", "puts_become_visible_together"),
        (Fault::SplitsPuts, "handles", "dropped_put_is_all_or_nothing"),
        (Fault::ForgetsWhenClosed, "handles", "results_survive_a_reopen"),
        (Fault::StoresNothing, "limits", "names_at_the_length_limit_are_stored"),
        (Fault::AcknowledgesRefusedResults, "limits", "results_over_the_limits_are_refused"),
    ] {
        check(fault, area, case);
    }
}
