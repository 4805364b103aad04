use std::fmt;
use std::future::Future;
use std::pin::Pin;

use super::cases as listed;
use super::test_provider::AnyTestProvider;
use super::{Answer, Broken, TestModel, TestProvider};

/// A case: one promise of a model, as a test.
#[derive(Clone, Copy)]
pub struct Case {
    area: &'static str,
    name: &'static str,
    run: Run,
}

type Run = for<'a> fn(Provider<'a>) -> Pin<Box<dyn Future<Output = Result<(), Broken>> + Send + 'a>>;

/// The provider of a case.
#[derive(Clone, Copy)]
pub(super) struct Provider<'a>(&'a dyn AnyTestProvider);

impl Provider<'_> {
    pub(super) async fn start(self, answer: Answer) -> Option<TestModel> {
        self.0.start_any(answer).await
    }
}

impl Case {
    /// Returns the area of the case, for example `stream` or `failures`.
    pub fn area(&self) -> &'static str {
        self.area
    }

    /// Returns the name of the case: the promise as the name of a function.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Runs the case.
    ///
    /// # Errors
    /// The broken promise.
    pub async fn run(&self, provider: &impl TestProvider) -> Result<(), Broken> {
        (self.run)(Provider(provider)).await.map_err(|broken| broken.of(self.area, self.name))
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}::{}", self.area, self.name)
    }
}

/// Runs the case with this area and name, as a test of
/// [`model_conformance_tests!`](crate::model_conformance_tests) does.
///
/// # Errors
/// The broken promise, or that the case does not exist.
pub async fn run(area: &str, name: &str, provider: &impl TestProvider) -> Result<(), Broken> {
    match cases().find(|case| case.area == area && case.name == name) {
        Some(case) => case.run(provider).await,
        None => Err(Broken::new("the case exists", format!("{area}::{name}"), "no such case")),
    }
}

/// Returns all cases.
pub fn cases() -> impl Iterator<Item = Case> {
    crate::__model_cases!(__model_table()).into_iter()
}

/// Expands to an array of all cases.
#[doc(hidden)]
#[macro_export]
macro_rules! __model_table {
    (() $($area:ident { $($case:ident)* })*) => {
        [$($(Case {
            area: stringify!($area),
            name: stringify!($case),
            run: |provider| Box::pin(listed::$area::$case(provider)),
        },)*)*]
    };
}

/// Expands to a `#[test]` for each case.
#[doc(hidden)]
#[macro_export]
macro_rules! __model_tests {
    (($provider:expr, $run:expr) $($area:ident { $($case:ident)* })*) => {
        $($(
            #[test]
            fn $case() -> ::core::result::Result<(), $crate::conformance::Broken> {
                let provider = $provider;
                ($run)($crate::conformance::run(stringify!($area), stringify!($case), &provider))
            }
        )*)*
    };
}

/// Creates a `#[test]` for each case of a model.
///
/// The first expression is evaluated for each test and returns a [`TestProvider`]. The second one runs the future of a case, for
/// example with `|case| tokio::runtime::Runtime::new().unwrap().block_on(case)`. See [`conformance`](crate::conformance).
#[macro_export]
macro_rules! model_conformance_tests {
    ($provider:expr, run = $run:expr $(,)?) => {
        $crate::__model_cases!(__model_tests($provider, $run));
    };
}
