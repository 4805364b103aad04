use std::future::{Future, IntoFuture};
use std::pin::Pin;

use futures_util::stream::{FuturesUnordered, StreamExt as _};

use crate::engine::context::context::Context;
use crate::error::NodeError;

use super::DurableStep;

/// Several durable steps that run concurrently; created by [`Context::steps`]. They start when it is awaited.
#[must_use = "the steps run when this is awaited"]
pub struct DurableSteps<'c, T> {
    steps: Vec<DurableStep<'c, T>>,
    at_most: usize,
}

impl Context {
    /// Runs several durable [steps](Self::step) concurrently. The results are in the order of the steps.
    ///
    /// ```
    /// # use superstep::{Context, GraphState, Result};
    /// # #[derive(GraphState, Clone)]
    /// # struct Pages { #[state(input)] urls: Vec<String>, lengths: Vec<usize> }
    /// # async fn fetch(url: &str) -> Result<usize> { Ok(url.len()) }
    /// async fn read(pages: &Pages, cx: &Context) -> Result<PagesUpdate> {
    ///     let lengths = cx.steps(pages.urls.iter().map(|url| cx.step(url, fetch(url)))).at_most(8).await?;
    ///     Ok(Pages::update().lengths(lengths))
    /// }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<()> {
    /// # let pages = Pages::started(Pages::input(vec!["a".to_owned(), "bcd".to_owned()]))?;
    /// # let update = read(&pages, &Context::detached("read")).await?;
    /// # assert_eq!(pages.updated(update)?.lengths, [1, 3]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Each step needs its own key. All of them run inside the node's task, on one core; wrap CPU-bound work in
    /// `spawn_blocking` inside its step. By default all steps run at once; [`at_most`](DurableSteps::at_most) limits
    /// that. To run a few steps of different types concurrently, use `join!`.
    ///
    /// # Errors
    /// After a step has failed, no further step begins. Steps in progress run to their end, so that their results are
    /// kept. Then the call returns the error of the first failed step, in the order of the steps.
    ///
    /// # Durability
    /// The same as for each [step](Self::step).
    ///
    /// # Cancel safety
    /// The same as for each [step](Self::step): results of finished steps are kept, and the other steps run again
    /// with the node.
    pub fn steps<'c, T>(
        &'c self,
        steps: impl IntoIterator<Item = DurableStep<'c, T>>,
    ) -> DurableSteps<'c, T> {
        DurableSteps { steps: steps.into_iter().collect(), at_most: usize::MAX }
    }
}

impl<T> DurableSteps<'_, T> {
    /// Limits the number of steps that run at the same time. A limit of 0 counts as 1.
    pub fn at_most(mut self, steps: usize) -> Self {
        self.at_most = steps.max(1);
        self
    }
}

impl<'c, T: Send + 'c> IntoFuture for DurableSteps<'c, T> {
    type Output = Result<Vec<T>, NodeError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'c>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(take_all(self))
    }
}

async fn take_all<T>(steps: DurableSteps<'_, T>) -> Result<Vec<T>, NodeError> {
    let DurableSteps { steps, at_most } = steps;
    let mut waiting = steps.into_iter().enumerate().map(|(place, step)| async move { (place, step.await) });
    let mut under_way: FuturesUnordered<_> = waiting.by_ref().take(at_most).collect();
    let mut results = Vec::with_capacity(under_way.len());
    let mut failed: Option<(usize, NodeError)> = None;
    while let Some((place, result)) = under_way.next().await {
        match result {
            Ok(result) => results.push((place, result)),
            Err(error) if failed.as_ref().is_none_or(|(first, _)| place < *first) => {
                failed = Some((place, error))
            }
            Err(_) => {}
        }
        if failed.is_none() {
            under_way.extend(waiting.next());
        }
    }
    match failed {
        Some((_, error)) => Err(error),
        None => {
            results.sort_unstable_by_key(|(place, _)| *place);
            Ok(results.into_iter().map(|(_, result)| result).collect())
        }
    }
}

impl<T> std::fmt::Debug for DurableSteps<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DurableSteps").field("steps", &self.steps.len()).finish_non_exhaustive()
    }
}
