use std::sync::Arc;

use superstep_store::checkpoint::{CheckpointError, Checkpointer};

use crate::promise::suite;
use crate::{Damage, TestStore};

suite! {
    /// A case for a checkpoint store.
    noun: "store",
    place: TestStore as AnyTestStore,
    store: dyn Checkpointer, CheckpointError,
    opened: Arc<dyn Checkpointer> = std::convert::identity,
    damage: Damage<'a>,
    list: __cases in crate::cases,
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
    ($($arguments:tt)*) => {
        $crate::__suite_tests!(__cases, $crate::run, $($arguments)*);
    };
}
