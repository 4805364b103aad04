use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use graph_core::checkpoint::Checkpointer;

use crate::expect::told;
use crate::place::AnyPlace;
use crate::{Broken, Damage, Place};

type Run = for<'a> fn(Here<'a>) -> Pin<Box<dyn Future<Output = Result<(), Broken>> + Send + 'a>>;

/// A promise that can be tested.
#[derive(Clone, Copy)]
pub struct Case {
    area: &'static str,
    name: &'static str,
    run: Run,
}

impl Case {
    /// What it is about: `commit`, `fields`, `prune`, …
    pub fn area(&self) -> &'static str {
        self.area
    }

    /// The promise in a few words, as a name of a function.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Tests it at a place, where nothing is yet.
    ///
    /// # Errors
    /// What is not as it was promised.
    pub async fn run(&self, place: &impl Place) -> Result<(), Broken> {
        let case = |broken| Broken { case: format!("{}::{}", self.area, self.name), ..broken };
        (self.run)(Here(place)).await.map_err(case)
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}::{}", self.area, self.name)
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
    match cases().find(|case| case.area == area && case.name == name) {
        Some(case) => case.run(place).await,
        None => Err(Broken::new("the case is there", format!("{area}::{name}"), "nothing")),
    }
}

/// Every case.
pub fn cases() -> impl Iterator<Item = Case> {
    crate::__cases!(__table()).into_iter()
}

#[doc(hidden)]
#[macro_export]
macro_rules! __table {
    (() $($area:ident { $($case:ident)* })*) => {
        [$($($crate::case::Case {
            area: stringify!($area),
            name: stringify!($case),
            run: |here| Box::pin($crate::cases::$area::$case(here)),
        },)*)*]
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __tests {
    (($place:expr, $run:expr) $($area:ident { $($case:ident)* })*) => {
        $($(
            #[test]
            fn $case() -> ::core::result::Result<(), $crate::Broken> {
                let place = $place;
                ($run)($crate::run(stringify!($area), stringify!($case), &place))
            }
        )*)*
    };
}

/// Makes a `#[test]` of each case, for the places that an expression gives: it is evaluated for each of them.
///
/// `run = ..` says how a future is run, if not by [`block_on`](crate::block_on).
///
/// ```
/// # use graph_conformance::Place;
/// # use graph_core::checkpoint::{MemoryCheckpointer, StoreError};
/// # struct Memory(MemoryCheckpointer);
/// # impl Place for Memory {
/// #     type Store = MemoryCheckpointer;
/// #     async fn open(&self) -> Result<Self::Store, StoreError> { Ok(self.0.clone()) }
/// # }
/// mod without_a_runtime {
///     # use super::*;
///     graph_conformance::conformance_tests!(Memory(MemoryCheckpointer::new()));
/// }
///
/// mod on_a_runtime {
///     # use super::*;
///     # fn block_on<T>(case: impl Future<Output = T>) -> T { graph_conformance::block_on(case) }
///     graph_conformance::conformance_tests!(Memory(MemoryCheckpointer::new()), run = |case| block_on(case));
/// }
/// ```
#[macro_export]
macro_rules! conformance_tests {
    ($place:expr $(,)?) => {
        $crate::conformance_tests!($place, run = $crate::block_on);
    };
    ($place:expr, run = $run:expr $(,)?) => {
        $crate::__cases!(__tests($place, $run));
    };
}
