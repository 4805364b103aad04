use std::fmt;
use std::future::Future;
use std::pin::Pin;

use crate::Broken;

use super::desk::{Desk, told};
use super::place::AnyPlace;
use super::{Damage, Place};

type Run = for<'a> fn(Here<'a>) -> Pin<Box<dyn Future<Output = Result<(), Broken>> + Send + 'a>>;

/// A promise of a long-term store that can be tested.
#[derive(Clone, Copy)]
pub struct Case {
    area: &'static str,
    name: &'static str,
    run: Run,
}

impl Case {
    /// What it is about: `items`, `filters`, `lifetimes`, …
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
pub(super) struct Here<'a>(&'a dyn AnyPlace);

impl Here<'_> {
    pub(super) async fn open(self) -> Result<Desk, Broken> {
        let opened = self.0.open_any().await;
        let store = opened
            .map_err(|error| Broken::new("a store can be opened, a new one too", "success", told(&error)))?;
        Ok(Desk::new(store))
    }

    pub(super) async fn damage(self, damage: Damage<'_>) -> bool {
        self.0.damage_any(&damage).await
    }
}

/// Runs the case of this area and name at a place: what a test of
/// [`store_conformance_tests!`](crate::store_conformance_tests) does.
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
    crate::__store_cases!(__store_table()).into_iter()
}

#[doc(hidden)]
#[macro_export]
macro_rules! __store_table {
    (() $($area:ident { $($case:ident)* })*) => {
        [$($($crate::store::case::Case {
            area: stringify!($area),
            name: stringify!($case),
            run: |here| Box::pin($crate::store::cases::$area::$case(here)),
        },)*)*]
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __store_tests {
    (($place:expr, $run:expr) $($area:ident { $($case:ident)* })*) => {
        $($(
            #[test]
            fn $case() -> ::core::result::Result<(), $crate::Broken> {
                let place = $place;
                ($run)($crate::store::run(stringify!($area), stringify!($case), &place))
            }
        )*)*
    };
}

/// Makes a `#[test]` of each case of long-term stores, for the places that an expression gives: it is evaluated for each of
/// them.
///
/// `run = ..` says how a future is run, if not by [`block_on`](crate::block_on); see
/// [`conformance_tests!`](crate::conformance_tests).
#[macro_export]
macro_rules! store_conformance_tests {
    ($place:expr $(,)?) => {
        $crate::store_conformance_tests!($place, run = $crate::block_on);
    };
    ($place:expr, run = $run:expr $(,)?) => {
        $crate::__store_cases!(__store_tests($place, $run));
    };
}
