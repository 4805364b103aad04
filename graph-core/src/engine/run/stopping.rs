//! Stop requests from outside the run.

use std::sync::PoisonError;

use crate::engine::context::{Context, StopPoint};
use crate::error::{Error, ErrorKind};
use crate::options::Stop;

use super::driver::Driver;

impl Driver {
    /// Returns `true` if the run was asked to stop, so that no further superstep begins.
    #[cold]
    #[inline(never)]
    pub(crate) fn is_asked_to_stop(&mut self) -> bool {
        let Some(stop) = &self.options.stop else { return false };
        if !stop.is_stopping() {
            return false;
        }
        if !stop.is_cancelled() {
            self.stop_point = Some(StopPoint { requested: true, ..StopPoint::default() });
        }
        true
    }

    /// Returns the run's error if it was cancelled.
    pub(crate) fn cancelled(&self) -> Option<Error> {
        let cancelled = self.options.stop.as_ref().is_some_and(Stop::is_cancelled);
        cancelled.then(|| {
            let unfinished = self.unfinished().map(str::to_owned).collect();
            self.error(ErrorKind::Cancelled { step: Some(self.step + 1), unfinished })
        })
    }

    /// Replaces the handle that can stop the run.
    pub(crate) fn stop_by(&mut self, stop: &Stop) {
        self.options.stop = Some(stop.clone());
        *self.ctx.shared.stop.lock().unwrap_or_else(PoisonError::into_inner) = Some(stop.clone());
    }
}

impl Context {
    fn stop(&self) -> Option<Stop> {
        self.shared.stop.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns `true` if the run was asked to stop; always `false` for a run without a [`Stop`].
    ///
    /// A drained run waits for its running nodes. A node that takes long can check this and return its results so
    /// far.
    pub fn is_stopping(&self) -> bool {
        self.stop().is_some_and(|stop| stop.is_stopping())
    }

    /// Waits until the run is asked to stop; forever for a run without a [`Stop`].
    ///
    /// ```
    /// # use superstep::{Context, END, GraphState, START, StateGraph, run::Stop};
    /// # #[derive(GraphState, Clone)]
    /// # struct Crawl { #[state(reducer = append)] pages: Vec<String> }
    /// # async fn fetch(_: usize) -> String { std::future::pending().await }
    /// async fn crawl(crawl: &Crawl, cx: &Context) -> CrawlUpdate {
    ///     let mut pages = Vec::new();
    ///     loop {
    ///         tokio::select! {
    ///             page = fetch(crawl.pages.len() + pages.len()) => pages.push(page),
    ///             () = cx.stopping() => return Crawl::update().pages(pages),
    ///         }
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> superstep::Result<()> {
    /// # let graph = StateGraph::<Crawl>::new().edge(START, crawl).edge(crawl, crawl).compile()?;
    /// let stop = Stop::new();
    /// let run = graph.run(Crawl::input()).stop_by(&stop);
    /// let (outcome, ()) = tokio::join!(run, async { stop.drain() });
    /// assert!(outcome?.pause().is_some_and(|pause| pause.is_stopped()));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Cancel safety
    /// Dropping the future has no effect.
    pub async fn stopping(&self) {
        match self.stop() {
            Some(stop) => stop.stopping().await,
            None => std::future::pending().await,
        }
    }
}
