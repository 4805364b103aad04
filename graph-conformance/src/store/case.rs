use superstep_store::store::{Store, StoreError};

use crate::promise::suite;

use super::fixture::Fixture;
use super::{Damage, TestLongTermStore};

suite! {
    /// A case for a long-term store.
    noun: "store",
    place: TestLongTermStore as AnyTestLongTermStore,
    store: dyn Store, StoreError,
    opened: Fixture = Fixture::new,
    damage: Damage<'a>,
    list: __store_cases in super::cases,
}

/// Creates a `#[test]` for each case of a long-term store.
///
/// The expression is evaluated for each test and returns an empty store.
///
/// Pass `run = ..` to run the cases with another function than [`block_on`](crate::block_on): see
/// [`conformance_tests!`](crate::conformance_tests).
#[macro_export]
macro_rules! store_conformance_tests {
    ($($arguments:tt)*) => {
        $crate::__suite_tests!(__store_cases, $crate::store::run, $($arguments)*);
    };
}
