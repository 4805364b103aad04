use std::sync::Arc;

use superstep_store::checkpoint::Checkpointer;

use crate::cases as listed;
use crate::expect::error_chain;
use crate::promise::Promise;
use crate::test_store::AnyTestStore;
use crate::{Broken, Damage, TestStore};

/// A case for a checkpoint store.
pub type Case = Promise<dyn AnyTestStore>;

impl Case {
    /// Runs the case on an empty store.
    ///
    /// # Errors
    /// The broken promise.
    pub async fn run(&self, place: &impl TestStore) -> Result<(), Broken> {
        self.test(place).await
    }
}

/// The store under test, as a case sees it.
#[derive(Clone, Copy)]
pub(crate) struct Target<'a>(&'a dyn AnyTestStore);

impl Target<'_> {
    pub(crate) async fn open(self) -> Result<Arc<dyn Checkpointer>, Broken> {
        let opened = self.0.open_any().await;
        opened.map_err(|error| Broken::new("a store can be opened", "success", error_chain(&error)))
    }

    pub(crate) async fn damage(self, damage: Damage<'_>) -> bool {
        self.0.damage_any(&damage).await
    }
}

/// Runs the case with this area and name on an empty store, as a test of
/// [`conformance_tests!`](crate::conformance_tests) does.
///
/// # Errors
/// The broken promise, or that the case does not exist.
pub async fn run(area: &str, name: &str, place: &impl TestStore) -> Result<(), Broken> {
    Case::test_one(cases(), area, name, place).await
}

/// Returns all cases.
pub fn cases() -> impl Iterator<Item = Case> {
    crate::__cases!(__table()).into_iter()
}

/// Creates a `#[test]` for each case of a checkpoint store.
///
/// The expression is evaluated for each test and returns an empty [`TestStore`].
///
/// Pass `run = ..` to run the cases with another function than [`block_on`](crate::block_on).
///
/// ```
/// # use superstep_conformance::TestStore;
/// # use superstep_store::checkpoint::{MemoryCheckpointer, CheckpointError};
/// # struct Memory(MemoryCheckpointer);
/// # impl TestStore for Memory {
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
