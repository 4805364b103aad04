use crate::Broken;
use crate::expect::error_chain;
use crate::promise::Promise;

use super::cases as listed;
use super::fixture::Fixture;
use super::test_long_term_store::AnyTestLongTermStore;
use super::{Damage, TestLongTermStore};

/// A case for a long-term store.
pub type Case = Promise<dyn AnyTestLongTermStore>;

impl Case {
    /// Runs the case on an empty store.
    ///
    /// # Errors
    /// The broken promise.
    pub async fn run(&self, place: &impl TestLongTermStore) -> Result<(), Broken> {
        self.test(place).await
    }
}

/// The store under test, as a case sees it.
#[derive(Clone, Copy)]
pub(super) struct Target<'a>(&'a dyn AnyTestLongTermStore);

impl Target<'_> {
    pub(super) async fn open(self) -> Result<Fixture, Broken> {
        let opened = self.0.open_any().await;
        let store =
            opened.map_err(|error| Broken::new("a store can be opened", "success", error_chain(&error)))?;
        Ok(Fixture::new(store))
    }

    pub(super) async fn damage(self, damage: Damage<'_>) -> bool {
        self.0.damage_any(&damage).await
    }
}

/// Runs the case with this area and name on an empty store, as a test of
/// [`store_conformance_tests!`](crate::store_conformance_tests) does.
///
/// # Errors
/// The broken promise, or that the case does not exist.
pub async fn run(area: &str, name: &str, place: &impl TestLongTermStore) -> Result<(), Broken> {
    Case::test_one(cases(), area, name, place).await
}

/// Returns all cases.
pub fn cases() -> impl Iterator<Item = Case> {
    crate::__store_cases!(__table()).into_iter()
}

/// Creates a `#[test]` for each case of a long-term store.
///
/// The expression is evaluated for each test and returns an empty store.
///
/// Pass `run = ..` to run the cases with another function than [`block_on`](crate::block_on): see
/// [`conformance_tests!`](crate::conformance_tests).
#[macro_export]
macro_rules! store_conformance_tests {
    ($place:expr $(,)?) => {
        $crate::store_conformance_tests!($place, run = $crate::block_on);
    };
    ($place:expr, run = $run:expr $(,)?) => {
        $crate::__store_cases!(__tests($place, $run, $crate::store::run));
    };
}
