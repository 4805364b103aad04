//! The parts that the suites for all kinds of stores have in common.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use crate::Broken;

pub(crate) type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

type Run<P> = for<'a> fn(&'a P) -> BoxFuture<'a, Result<(), Broken>>;

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

/// Defines the suite of a kind of store: its cases, and the functions that run them.
///
/// - `place` is the trait that opens the store under test, and `any` its type-erased form.
/// - `opened` converts an open store to the value that the cases get.
/// - `list` is the macro with the names of the cases, whose functions are in the module `listed`.
macro_rules! suite {
    (
        $(#[$about:meta])*
        noun: $noun:literal,
        place: $place:ident as $any:ident,
        store: dyn $store:ident, $error:ident,
        opened: $opened:ty = $open:expr,
        damage: $damaged:ty,
        list: $list:ident in $listed:path,
    ) => {
        use $listed as listed;

        $(#[$about])*
        pub type Case = $crate::promise::Promise<dyn $any>;

        impl Case {
            /// Runs the case on an empty store.
            ///
            /// # Errors
            /// The broken promise.
            pub async fn run(&self, place: &impl $place) -> Result<(), $crate::Broken> {
                self.test(place).await
            }
        }

        #[doc = concat!("A type-erased [`", stringify!($place), "`], so that the cases are compiled once.")]
        #[doc(hidden)]
        pub trait $any: Send + Sync {
            fn open_any(&self) -> $crate::promise::BoxFuture<'_, Result<std::sync::Arc<dyn $store>, $error>>;
            fn damage_any<'a>(&'a self, damaged: &'a $damaged) -> $crate::promise::BoxFuture<'a, bool>;
        }

        impl<P: $place> $any for P {
            fn open_any(&self) -> $crate::promise::BoxFuture<'_, Result<std::sync::Arc<dyn $store>, $error>> {
                Box::pin(async move { Ok(std::sync::Arc::new(self.open().await?) as std::sync::Arc<dyn $store>) })
            }

            fn damage_any<'a>(&'a self, damaged: &'a $damaged) -> $crate::promise::BoxFuture<'a, bool> {
                Box::pin(self.damage(damaged))
            }
        }

        #[doc = concat!("The ", $noun, " under test, as a case sees it.")]
        #[derive(Clone, Copy)]
        pub(crate) struct Target<'a>(&'a dyn $any);

        impl<'a> Target<'a> {
            pub(crate) async fn open(self) -> Result<$opened, $crate::Broken> {
                let opened = self.0.open_any().await;
                $crate::expect::Expect::works(opened, concat!("a ", $noun, " can be opened")).map($open)
            }

            pub(crate) async fn damage(self, damaged: &'a $damaged) -> bool {
                self.0.damage_any(damaged).await
            }
        }

        /// Runs the case with this area and name on an empty store, as a test of the macro does.
        ///
        /// # Errors
        /// The broken promise, or that the case does not exist.
        pub async fn run(area: &str, name: &str, place: &impl $place) -> Result<(), $crate::Broken> {
            Case::test_one(cases(), area, name, place).await
        }

        /// Returns all cases.
        pub fn cases() -> impl Iterator<Item = Case> {
            crate::$list!(__table()).into_iter()
        }
    };
}

pub(crate) use suite;

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

/// Creates a `#[test]` for each case of the list. `$test` runs the case with an area and a name.
#[doc(hidden)]
#[macro_export]
macro_rules! __suite_tests {
    ($list:ident, $test:path, $place:expr $(,)?) => {
        $crate::__suite_tests!($list, $test, $place, run = $crate::block_on);
    };
    ($list:ident, $test:path, $place:expr, run = $run:expr $(,)?) => {
        $crate::$list!(__tests($place, $run, $test));
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
