//! The suite for caches finds what is wrong: each fault that a cache could have breaks the case that is there for it.

use std::future::poll_fn;
use std::task::Poll;
use std::time::{Duration, SystemTime};

use superstep_conformance::block_on;
use superstep_conformance::cache::{Place, run};
use superstep_store::cache::{Cache, CacheError, CacheFuture, Clear, EntryKey, MemoryCache, NewEntry};
use superstep_store::payload::Payload;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    KeepsNothing,
    JoinsNames,
    ForgetsTheState,
    CutsKeys,
    KeepsTheFirst,
    LetsNothingExpire,
    LooksPastTheClock,
    TrustsClocksThatAreAhead,
    ClearsTooMuch,
    ClearsNothing,
    SplitsPuts,
    ForgetsWhenClosed,
    LosesEncodings,
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
            Fault::ForgetsTheState => at.state = "".into(),
            Fault::CutsKeys => at.key = at.key.chars().take(1_000).collect::<String>().into(),
            _ => {}
        }
        at
    }

    fn changed(&self, entry: NewEntry) -> NewEntry {
        let NewEntry { at, mut value, ttl } = entry;
        if self.is(Fault::LosesEncodings) {
            value = Payload::new(superstep_store::payload::Encoding::Json, value.bytes());
        }
        NewEntry { at: self.at(at), value, ttl: ttl.filter(|_| !self.is(Fault::LetsNothingExpire)) }
    }
}

/// Lets whoever else runs on this thread run.
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
                Fault::LooksPastTheClock => self.cache.get(at, now - Duration::from_millis(1)).await?,
                Fault::TrustsClocksThatAreAhead => match self.cache.get(at.clone(), now).await? {
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
            let mut entries: Vec<_> = entries.into_iter().map(|entry| self.changed(entry)).collect();
            match self.fault {
                Fault::KeepsNothing => entries.clear(),
                Fault::KeepsTheFirst => entries.reverse(),
                Fault::SplitsPuts => {
                    for entry in entries.into_iter().rev() {
                        self.cache.put(vec![entry], now).await?;
                        pause().await;
                    }
                    return Ok(());
                }
                _ => {}
            }
            self.cache.put(entries, now).await
        })
    }

    fn clear(&self, which: Clear) -> CacheFuture<'_, u64> {
        match (self.fault, which) {
            (Fault::ClearsTooMuch, Clear::OfNode { graph, .. }) => self.cache.clear(Clear::OfGraph(graph)),
            (Fault::ClearsTooMuch, Clear::OfGraph(_)) => self.cache.clear(Clear::All),
            (Fault::ClearsNothing, _) => Box::pin(async { Ok(0) }),
            (_, which) => self.cache.clear(which),
        }
    }
}

struct Here(Faulty);

impl Place for Here {
    type Cache = Faulty;

    async fn open(&self) -> Result<Faulty, CacheError> {
        Ok(if self.0.is(Fault::ForgetsWhenClosed) { Faulty::new(self.0.fault) } else { self.0.clone() })
    }
}

/// A case passes without a fault, and does not with it.
#[track_caller]
fn check(fault: Fault, area: &str, case: &str) {
    let sound = block_on(run(area, case, &Here(Faulty::new(Fault::None))));
    assert_eq!(sound, Ok(()));
    let broken = block_on(run(area, case, &Here(Faulty::new(fault))));
    assert!(broken.is_err(), "{area}::{case} does not notice that a cache {fault:?}");
}

#[test]
fn every_fault_is_found_by_the_case_that_is_there_for_it() {
    for (fault, area, case) in [
        (Fault::KeepsNothing, "results", "a_result_is_given_back_as_it_was_put"),
        (Fault::LosesEncodings, "results", "a_result_is_given_back_as_it_was_put"),
        (Fault::KeepsTheFirst, "results", "puts_are_made_in_their_order"),
        (Fault::JoinsNames, "names", "no_name_is_taken_for_another"),
        (Fault::ForgetsTheState, "names", "no_name_is_taken_for_another"),
        (Fault::CutsKeys, "names", "a_long_key_is_kept_whole"),
        (Fault::LetsNothingExpire, "lifetimes", "what_has_expired_is_not_there"),
        (Fault::LooksPastTheClock, "lifetimes", "what_has_expired_is_not_there"),
        (Fault::TrustsClocksThatAreAhead, "lifetimes", "what_a_clock_that_is_ahead_has_put_is_not_there_yet"),
        (Fault::ClearsTooMuch, "clearing", "a_graph_is_cleared_and_nothing_else"),
        (Fault::ClearsTooMuch, "clearing", "a_node_is_cleared_and_nothing_else"),
        (Fault::ClearsNothing, "clearing", "what_has_expired_is_cleared_and_nothing_else"),
        (Fault::SplitsPuts, "handles", "puts_are_seen_together_or_not_at_all"),
        (Fault::SplitsPuts, "handles", "a_dropped_put_is_whole_or_nothing_at_all"),
        (Fault::ForgetsWhenClosed, "handles", "what_was_put_is_there_when_it_is_opened_again"),
    ] {
        check(fault, area, case);
    }
}
