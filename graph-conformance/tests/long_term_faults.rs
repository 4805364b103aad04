//! The suite for long-term stores detects faults: each faulty store fails the case for its fault.

#![expect(clippy::unwrap_used, reason = "a faulty store may panic in its test")]

use std::future::poll_fn;
use std::task::Poll;
use std::time::SystemTime;

use superstep_conformance::block_on;
use superstep_conformance::store::{TestLongTermStore, run};
use superstep_store::checkpoint::Page;
use superstep_store::store::{
    Found, Get, Item, ItemKey, ItemWrite, ItemWrites, MemoryStore, Namespace, NamespaceQuery, Order, Search,
    Store, StoreError, StoreFuture,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    JoinsSegments,
    IgnoresTheNamespace,
    LosesCreationTimes,
    NeverExpires,
    RefreshesNothing,
    SweepsNothing,
    IgnoresConditions,
    FiltersAfterPaging,
    IgnoresOrder,
    NeverReturnsMore,
    IgnoresAfter,
    DropsEmbeddings,
    SplitsBatches,
    ForgetsWhenClosed,
    IgnoresMaxDepth,
    AcknowledgesRefusedWrites,
    TruncatesKeys,
}

#[derive(Clone)]
struct Faulty {
    fault: Fault,
    store: MemoryStore,
}

impl Faulty {
    fn new(fault: Fault) -> Self {
        Self { fault, store: MemoryStore::new() }
    }

    fn is(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    fn namespace(&self, namespace: Namespace) -> Namespace {
        if self.is(Fault::JoinsSegments) { namespace.segments().join(".").into() } else { namespace }
    }

    fn at(&self, at: ItemKey) -> ItemKey {
        let kept = if self.is(Fault::TruncatesKeys) { 1_000 } else { usize::MAX };
        let key: String = at.key.chars().take(kept).collect();
        ItemKey::new(self.namespace(at.namespace), key)
    }

    fn tampered(&self, write: ItemWrite) -> ItemWrite {
        match write {
            ItemWrite::Delete(at) => ItemWrite::Delete(self.at(at)),
            ItemWrite::Put(mut put) => {
                put.at = self.at(put.at);
                put.ttl = put.ttl.filter(|_| !self.is(Fault::NeverExpires));
                put.embedding = put.embedding.filter(|_| !self.is(Fault::DropsEmbeddings));
                ItemWrite::Put(put)
            }
        }
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

impl Store for Faulty {
    fn get(&self, mut get: Get) -> StoreFuture<'_, Vec<Option<Item>>> {
        get.refresh &= !self.is(Fault::RefreshesNothing);
        get.keys = get.keys.into_iter().map(|at| self.at(at)).collect();
        self.store.get(get)
    }

    fn write(&self, writes: ItemWrites) -> StoreFuture<'_, Vec<bool>> {
        Box::pin(async move {
            let ItemWrites { now, writes, .. } = writes;
            let writes: Vec<_> = writes.into_iter().map(|write| self.tampered(write)).collect();
            if self.is(Fault::LosesCreationTimes) {
                let deletes = writes.iter().map(|write| ItemWrite::Delete(write.at().clone())).collect();
                let existed = self.store.write(ItemWrites::new(now, deletes)).await?;
                self.store.write(ItemWrites::new(now, writes)).await?;
                return Ok(existed);
            }
            if self.is(Fault::AcknowledgesRefusedWrites) {
                let count = writes.len();
                let written = self.store.write(ItemWrites::new(now, writes)).await;
                return Ok(written.unwrap_or(vec![false; count]));
            }
            if !self.is(Fault::SplitsBatches) {
                return self.store.write(ItemWrites::new(now, writes)).await;
            }
            let mut existed = Vec::new();
            for write in writes {
                existed.extend(self.store.write(ItemWrites::new(now, vec![write])).await?);
                pause().await;
            }
            Ok(existed)
        })
    }

    fn search(&self, mut search: Search) -> StoreFuture<'_, Page<Found>> {
        search.namespace = self.namespace(search.namespace);
        let conditions = search.conditions.clone();
        match self.fault {
            Fault::IgnoresTheNamespace => search.namespace = Namespace::root(),
            Fault::RefreshesNothing => search.refresh = false,
            Fault::IgnoresConditions | Fault::FiltersAfterPaging => search.conditions = Vec::new(),
            Fault::IgnoresAfter => search.after = None,
            Fault::IgnoresOrder => search.order = Order::Name,
            _ => {}
        }
        Box::pin(async move {
            let check = search.clone().conditions(conditions);
            let mut page = self.store.search(search).await?;
            page.more &= !self.is(Fault::NeverReturnsMore);
            if self.is(Fault::FiltersAfterPaging) {
                page.items.retain(|found| check.accepts(&found.value).unwrap());
            }
            Ok(page)
        })
    }

    fn namespaces(&self, mut query: NamespaceQuery) -> StoreFuture<'_, Page<Namespace>> {
        query.prefix = self.namespace(query.prefix);
        query.max_depth = query.max_depth.filter(|_| !self.is(Fault::IgnoresMaxDepth));
        self.store.namespaces(query)
    }

    fn delete_expired(&self, now: SystemTime) -> StoreFuture<'_, u64> {
        if self.is(Fault::SweepsNothing) { Box::pin(async { Ok(0) }) } else { self.store.delete_expired(now) }
    }
}

struct FaultyTestLongTermStore(Faulty);

impl TestLongTermStore for FaultyTestLongTermStore {
    type Store = Faulty;

    async fn open(&self) -> Result<Faulty, StoreError> {
        Ok(if self.0.is(Fault::ForgetsWhenClosed) { Faulty::new(self.0.fault) } else { self.0.clone() })
    }
}

/// Checks that a case passes without the fault and fails with it.
#[track_caller]
fn check(fault: Fault, area: &str, case: &str) {
    let sound = block_on(run(area, case, &FaultyTestLongTermStore(Faulty::new(Fault::None))));
    assert_eq!(sound, Ok(()));
    let broken = block_on(run(area, case, &FaultyTestLongTermStore(Faulty::new(fault))));
    assert!(broken.is_err(), "{area}::{case} does not detect the fault {fault:?}");
}

#[test]
fn each_fault_fails_its_case() {
    for (fault, area, case) in [
        (Fault::JoinsSegments, "namespaces", "similar_namespaces_are_distinct"),
        (Fault::IgnoresTheNamespace, "namespaces", "prefix_matches_whole_segments"),
        (Fault::LosesCreationTimes, "items", "overwrite_keeps_the_creation_time"),
        (Fault::NeverExpires, "ttl", "expired_item_does_not_exist"),
        (Fault::RefreshesNothing, "ttl", "refresh_restarts_the_time_to_live"),
        (Fault::RefreshesNothing, "ttl", "search_refreshes_only_returned_items"),
        (Fault::SweepsNothing, "ttl", "sweep_removes_exactly_the_expired_items"),
        (Fault::IgnoresConditions, "filters", "filters_compare_types_strictly"),
        (Fault::FiltersAfterPaging, "filters", "filters_apply_before_paging"),
        (Fault::IgnoresOrder, "search", "newest_order_returns_the_newest_first"),
        (Fault::NeverReturnsMore, "search", "pages_have_no_gaps_or_repeats"),
        (Fault::IgnoresAfter, "search", "search_continues_after_a_name"),
        (Fault::DropsEmbeddings, "semantic_search", "nearest_items_come_first"),
        (Fault::SplitsBatches, "handles", "batch_becomes_visible_as_a_whole"),
        (Fault::SplitsBatches, "handles", "dropped_write_is_all_or_nothing"),
        (Fault::ForgetsWhenClosed, "handles", "writes_survive_a_reopen"),
        (Fault::IgnoresMaxDepth, "namespace_lists", "max_depth_lists_each_prefix_once"),
        (Fault::TruncatesKeys, "limits", "names_at_the_length_limit_are_stored"),
        (Fault::AcknowledgesRefusedWrites, "limits", "items_over_the_limits_are_refused"),
    ] {
        check(fault, area, case);
    }
}
