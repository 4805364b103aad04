use std::sync::Arc;

use superstep_store::checkpoint::Checkpointer;

use crate::cases as listed;
use crate::expect::told;
use crate::place::AnyPlace;
use crate::promise::Promise;
use crate::{Broken, Damage, Place};

/// A promise of a store of checkpoints that can be tested.
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
pub(crate) struct Here<'a>(&'a dyn AnyPlace);

impl Here<'_> {
    pub(crate) async fn open(self) -> Result<Arc<dyn Checkpointer>, Broken> {
        let opened = self.0.open_any().await;
        opened.map_err(|error| Broken::new("a store can be opened, a new one too", "success", told(&error)))
    }

    pub(crate) async fn damage(self, damage: Damage<'_>) -> bool {
        self.0.damage_any(&damage).await
    }
}

/// Runs the case of this area and name at a place: what a test of
/// [`conformance_tests!`](crate::conformance_tests) does.
///
/// # Errors
/// What is not as it was promised; also that there is no such case.
pub async fn run(area: &str, name: &str, place: &impl Place) -> Result<(), Broken> {
    Case::test_one(cases(), area, name, place).await
}

/// Every case.
pub fn cases() -> impl Iterator<Item = Case> {
    crate::__cases!(__table()).into_iter()
}

/// Makes a `#[test]` of each case, for the places that an expression gives: it is evaluated for each of them.
///
/// `run = ..` says how a future is run, if not by [`block_on`](crate::block_on).
///
/// ```
/// # use superstep_conformance::Place;
/// # use superstep_store::checkpoint::{MemoryCheckpointer, CheckpointError};
/// # struct Memory(MemoryCheckpointer);
/// # impl Place for Memory {
/// #     type Store = MemoryCheckpointer;
/// #     async fn open(&self) -> Result<Self::Store, CheckpointError> { Ok(self.0.clone()) }
/// # }
/// mod without_a_runtime {
///     # use super::*;
///     superstep_conformance::conformance_tests!(Memory(MemoryCheckpointer::new()));
/// }
///
/// mod on_a_runtime {
///     # use super::*;
///     # fn block_on<T>(case: impl Future<Output = T>) -> T { superstep_conformance::block_on(case) }
///     superstep_conformance::conformance_tests!(Memory(MemoryCheckpointer::new()), run = |case| block_on(case));
/// }
/// ```
#[macro_export]
macro_rules! conformance_tests {
    ($place:expr $(,)?) => {
        $crate::conformance_tests!($place, run = $crate::block_on);
    };
    ($place:expr, run = $run:expr $(,)?) => {
        $crate::__cases!(__tests($place, $run, $crate::run));
    };
}
