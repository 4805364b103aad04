use superstep_store::cache::EntryKey;

use crate::Broken;
use crate::expect::told;
use crate::promise::Promise;

use super::Place;
use super::cases as listed;
use super::desk::Desk;
use super::place::AnyPlace;

/// A promise of a cache that can be tested.
pub type Case = Promise<dyn AnyPlace>;

impl Case {
    /// Tests it at a place, where nothing is yet.
    ///
    /// # Errors
    /// What is not as it was promised.
    pub async fn run(&self, place: &impl Place) -> Result<(), Broken> {
        self.test(place).await
    }
}

/// The place that a case is given.
#[derive(Clone, Copy)]
pub(super) struct Here<'a>(&'a dyn AnyPlace);

impl Here<'_> {
    pub(super) async fn open(self) -> Result<Desk, Broken> {
        let opened = self.0.open_any().await;
        let cache = opened
            .map_err(|error| Broken::new("a cache can be opened, a new one too", "success", told(&error)))?;
        Ok(Desk::new(cache))
    }

    pub(super) async fn damage(self, at: &EntryKey) -> bool {
        self.0.damage_any(at).await
    }
}

/// Runs the case of this area and name at a place: what a test of
/// [`cache_conformance_tests!`](crate::cache_conformance_tests) does.
///
/// # Errors
/// What is not as it was promised; also that there is no such case.
pub async fn run(area: &str, name: &str, place: &impl Place) -> Result<(), Broken> {
    Case::test_one(cases(), area, name, place).await
}

/// Every case.
pub fn cases() -> impl Iterator<Item = Case> {
    crate::__cache_cases!(__table()).into_iter()
}

/// Makes a `#[test]` of each case of caches, for the places that an expression gives: it is evaluated for each of
/// them.
///
/// `run = ..` says how a future is run, if not by [`block_on`](crate::block_on); see
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
