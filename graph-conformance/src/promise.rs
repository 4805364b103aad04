//! The type of a case, for all kinds of stores.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use crate::Broken;

type Run<P> = for<'a> fn(&'a P) -> Pin<Box<dyn Future<Output = Result<(), Broken>> + Send + 'a>>;

/// A case: one promise of a store, as a test.
///
/// It is [`Case`](crate::Case) for checkpoint stores, [`store::Case`](crate::store::Case) for long-term stores and
/// [`cache::Case`](crate::cache::Case) for caches.
pub struct Promise<P: ?Sized> {
    pub(crate) area: &'static str,
    pub(crate) name: &'static str,
    pub(crate) run: Run<P>,
}

impl<P: ?Sized> Promise<P> {
    /// Returns the area of the case, for example `commit`, `fields` or `prune`.
    pub fn area(&self) -> &'static str {
        self.area
    }

    /// Returns the name of the case: the promise as the name of a function.
    pub fn name(&self) -> &'static str {
        self.name
    }

    pub(crate) async fn test(&self, place: &P) -> Result<(), Broken> {
        let case = |broken| Broken { case: format!("{}::{}", self.area, self.name), ..broken };
        (self.run)(place).await.map_err(case)
    }

    /// Runs the case with this area and name.
    pub(crate) async fn test_one(
        mut cases: impl Iterator<Item = Self>,
        area: &str,
        name: &str,
        place: &P,
    ) -> Result<(), Broken> {
        match cases.find(|case| case.area == area && case.name == name) {
            Some(case) => case.test(place).await,
            None => Err(Broken::new("the case exists", format!("{area}::{name}"), "no such case")),
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

/// Expands to an array of all cases. The caller defines `listed`, the module of the cases, and `Target`, their
/// argument.
#[doc(hidden)]
#[macro_export]
macro_rules! __table {
    (() $($area:ident { $($case:ident)* })*) => {
        [$($($crate::promise::Promise {
            area: stringify!($area),
            name: stringify!($case),
            run: |place| Box::pin(listed::$area::$case(Target(place))),
        },)*)*]
    };
}

/// Expands to a `#[test]` for each case. `$test` runs the case with an area and a name.
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
