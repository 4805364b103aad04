use superstep_store::cache::EntryKey;

use crate::Broken;
use crate::expect::error_chain;
use crate::promise::Promise;

use super::TestCache;
use super::cases as listed;
use super::fixture::Fixture;
use super::test_cache::AnyTestCache;

/// A case for a cache.
pub type Case = Promise<dyn AnyTestCache>;

impl Case {
    /// Runs the case on an empty store.
    ///
    /// # Errors
    /// The broken promise.
    pub async fn run(&self, place: &impl TestCache) -> Result<(), Broken> {
        self.test(place).await
    }
}

/// The cache under test, as a case sees it.
#[derive(Clone, Copy)]
pub(super) struct Target<'a>(&'a dyn AnyTestCache);

impl Target<'_> {
    pub(super) async fn open(self) -> Result<Fixture, Broken> {
        let opened = self.0.open_any().await;
        let cache =
            opened.map_err(|error| Broken::new("a cache can be opened", "success", error_chain(&error)))?;
        Ok(Fixture::new(cache))
    }

    pub(super) async fn damage(self, at: &EntryKey) -> bool {
        self.0.damage_any(at).await
    }
}

/// Runs the case with this area and name on an empty store, as a test of
/// [`cache_conformance_tests!`](crate::cache_conformance_tests) does.
///
/// # Errors
/// The broken promise, or that the case does not exist.
pub async fn run(area: &str, name: &str, place: &impl TestCache) -> Result<(), Broken> {
    Case::test_one(cases(), area, name, place).await
}

/// Returns all cases.
pub fn cases() -> impl Iterator<Item = Case> {
    crate::__cache_cases!(__table()).into_iter()
}

/// Creates a `#[test]` for each case of a cache.
///
/// The expression is evaluated for each test and returns an empty store.
///
/// Pass `run = ..` to run the cases with another function than [`block_on`](crate::block_on): see
/// [`conformance_tests!`](crate::conformance_tests).
#[macro_export]
macro_rules! cache_conformance_tests {
    ($place:expr $(,)?) => {
        $crate::cache_conformance_tests!($place, run = $crate::block_on);
    };
    ($place:expr, run = $run:expr $(,)?) => {
        $crate::__cache_cases!(__tests($place, $run, $crate::cache::run));
    };
}
