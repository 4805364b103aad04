use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::error::{Error, ErrorKind};

/// The future of a result.
pub(crate) type BoxedResult<T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send>>;

/// The future of a run or an update that has begun. Empty before its first poll and after its end.
pub(crate) struct Begun<T>(Option<BoxedResult<T>>);

impl<T> Begun<T> {
    pub(crate) fn not_yet() -> Self {
        Self(None)
    }

    pub(crate) fn begin(&mut self, future: BoxedResult<T>) {
        self.0 = Some(future);
    }

    /// Polls the future. A poll after the end is an error.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>, graph: &str) -> Poll<Result<T, Error>> {
        let Some(future) = &mut self.0 else { return Poll::Ready(Err(ended(graph))) };
        let polled = future.as_mut().poll(cx);
        if polled.is_ready() {
            self.0 = None;
        }
        polled
    }

    /// Returns the future, for a reader that takes it over.
    pub(crate) fn into_future(self, graph: &str) -> BoxedResult<T>
    where
        T: Send + 'static,
    {
        let ended = ended(graph);
        self.0.unwrap_or_else(|| Box::pin(std::future::ready(Err(ended))))
    }
}

fn ended(graph: &str) -> Error {
    Error::new(graph, ErrorKind::Runtime("this future was polled after its end"))
}
