use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::error::Panic;
use crate::node::StepFuture;
use crate::panic_text;
use crate::reducers::Stamp;
use crate::state::GraphState;

use super::task::{Failed, Finished, finish};

/// One attempt of a task: the node's future, and what becomes of its result. A panic in either is the task's failure.
pub(super) struct Attempt<'a, S: GraphState> {
    future: Option<StepFuture<'a, S>>,
    stamp: Stamp<'a>,
}

impl<'a, S: GraphState> Attempt<'a, S> {
    #[inline]
    pub(super) fn new(future: StepFuture<'a, S>, stamp: Stamp<'a>) -> Self {
        Self { future: Some(future), stamp }
    }
}

impl<S: GraphState> Attempt<'_, S> {
    /// Drops the future; that what it holds panics then is nobody's concern any more.
    fn end(&mut self) {
        if let Some(future) = self.future.take() {
            let _ = catch_unwind(AssertUnwindSafe(|| drop(future)));
        }
    }
}

impl<S: GraphState> Drop for Attempt<'_, S> {
    fn drop(&mut self) {
        self.end();
    }
}

impl<S: GraphState> Future for Attempt<'_, S> {
    type Output = Result<Finished<S>, Failed>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let Some(future) = &mut this.future else {
            return Poll::Ready(Err(Failed::Panic(Panic("polled after its end".to_owned()))));
        };
        let polled =
            catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx).map(|step| finish(step, this.stamp))));
        match polled {
            Ok(poll) => poll,
            Err(panic) => {
                // Whatever the future holds may be broken: it is dropped here and never polled again.
                this.end();
                Poll::Ready(Err(Failed::Panic(Panic(panic_text(&*panic).to_owned()))))
            }
        }
    }
}

/// Runs a function of the user's that is not a node.
pub(super) fn contained<T>(run: impl FnOnce() -> T) -> Result<T, Panic> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| Panic(panic_text(&*panic).to_owned()))
}
