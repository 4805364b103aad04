//! What a case is, whatever kind of store it asks.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use crate::Broken;

type Run<P> = for<'a> fn(&'a P) -> Pin<Box<dyn Future<Output = Result<(), Broken>> + Send + 'a>>;

/// A promise that can be tested, at places of one kind: [`Case`](crate::Case) of a store of checkpoints,
/// [`store::Case`](crate::store::Case) of a long-term store.
pub struct Promise<P: ?Sized> {
    pub(crate) area: &'static str,
    pub(crate) name: &'static str,
    pub(crate) run: Run<P>,
}

impl<P: ?Sized> Promise<P> {
    /// What it is about: `commit`, `fields`, `prune`, …
    pub fn area(&self) -> &'static str {
        self.area
    }

    /// The promise in a few words, as a name of a function.
    pub fn name(&self) -> &'static str {
        self.name
    }

    pub(crate) async fn test(&self, place: &P) -> Result<(), Broken> {
        let case = |broken| Broken { case: format!("{}::{}", self.area, self.name), ..broken };
        (self.run)(place).await.map_err(case)
    }

    /// Tests the case of this area and name.
    pub(crate) async fn test_one(
        mut cases: impl Iterator<Item = Self>,
        area: &str,
        name: &str,
        place: &P,
    ) -> Result<(), Broken> {
        match cases.find(|case| case.area == area && case.name == name) {
            Some(case) => case.test(place).await,
            None => Err(Broken::new("the case is there", format!("{area}::{name}"), "nothing")),
        }
    }
}

impl<P: ?Sized> Clone for Promise<P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: ?Sized> Copy for Promise<P> {}

impl<P: ?Sized> fmt::Debug for Promise<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}::{}", self.area, self.name)
    }
}

/// The cases of a list; `listed` is where they are, and `Here` what each is given.
#[doc(hidden)]
#[macro_export]
macro_rules! __table {
    (() $($area:ident { $($case:ident)* })*) => {
        [$($($crate::promise::Promise {
            area: stringify!($area),
            name: stringify!($case),
            run: |place| Box::pin(listed::$area::$case(Here(place))),
        },)*)*]
    };
}

/// A test of each case of a list; `$test` runs the one of an area and a name.
#[doc(hidden)]
#[macro_export]
macro_rules! __tests {
    (($place:expr, $run:expr, $test:path) $($area:ident { $($case:ident)* })*) => {
        $($(
            #[test]
            fn $case() -> ::core::result::Result<(), $crate::Broken> {
                let place = $place;
                ($run)($test(stringify!($area), stringify!($case), &place))
            }
        )*)*
    };
}
