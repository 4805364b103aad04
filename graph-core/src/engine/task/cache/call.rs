use std::future::Future;
use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;

use crate::cache::CacheError;
use crate::contain::panic_message;

/// Calls a cache, and turns a panic into an error.
pub(crate) async fn contained_call<T, F>(call: impl FnOnce() -> F) -> Result<T, CacheError>
where
    F: Future<Output = Result<T, CacheError>>,
{
    let called = AssertUnwindSafe(async { call().await }).catch_unwind().await;
    called.unwrap_or_else(|panic| {
        Err(CacheError::backend("do its work", format!("it panicked: {}", panic_message(panic))))
    })
}
