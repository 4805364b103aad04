use superstep_store::cache::{Cache, CacheError, EntryKey};

use crate::promise::suite;

use super::TestCache;
use super::fixture::Fixture;

suite! {
    /// A case for a cache.
    noun: "cache",
    place: TestCache as AnyTestCache,
    store: dyn Cache, CacheError,
    opened: Fixture = Fixture::new,
    damage: EntryKey,
    list: __cache_cases in super::cases,
}

/// Creates a `#[test]` for each case of a cache.
///
/// The expression is evaluated for each test and returns an empty store.
///
/// Pass `run = ..` to run the cases with another function than [`block_on`](crate::block_on): see
/// [`conformance_tests!`](crate::conformance_tests).
#[macro_export]
macro_rules! cache_conformance_tests {
    ($($arguments:tt)*) => {
        $crate::__suite_tests!(__cache_cases, $crate::cache::run, $($arguments)*);
    };
}
