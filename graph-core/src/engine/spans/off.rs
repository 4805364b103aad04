//! Empty spans, without the feature `tracing`.

use std::future::Future;
use std::task::Poll;

use crate::Outcome;
use crate::engine::About;
use crate::engine::at::At;
use crate::engine::spans::AttemptEnd;
use crate::error::Error;

#[derive(Clone)]
pub(crate) struct RunSpan;

pub(crate) struct SuperstepSpan;

pub(crate) struct NodeSpan;

impl RunSpan {
    #[inline]
    pub(crate) fn none() -> Self {
        Self
    }

    #[inline]
    pub(crate) fn begin<'a>(_: &str, _: impl FnOnce() -> About<'a>) -> Self {
        Self
    }

    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        false
    }

    #[inline]
    pub(crate) fn instrument<F: Future>(&self, future: F) -> F {
        future
    }

    #[inline]
    pub(crate) fn within<T>(&self, run: impl FnOnce() -> T) -> T {
        run()
    }

    #[inline]
    pub(crate) fn has_id(&self, _: Option<&str>) {}

    #[inline]
    pub(crate) fn begun<T>(&self, _: &Result<T, Error>) {}

    #[inline]
    pub(crate) fn stepped(&self, _: &Result<bool, Error>, _: bool) {}

    #[inline]
    pub(crate) fn ended<S>(&self, _: &Result<(u64, Outcome<S>), Error>) {}

    #[inline]
    pub(crate) fn superstep(&self, _: u64, _: usize) -> SuperstepSpan {
        SuperstepSpan
    }

    #[inline]
    pub(crate) fn node(&self, _: &str, _: At) -> NodeSpan {
        NodeSpan
    }

    #[inline]
    pub(crate) fn carried<F: Future>(&self, future: F) -> F {
        future
    }
}

impl SuperstepSpan {
    #[inline]
    pub(crate) fn instrument<F: Future>(&self, future: F) -> F {
        future
    }

    #[inline]
    pub(crate) fn ended(self, _: &Result<bool, Error>) {}
}

impl NodeSpan {
    #[inline]
    pub(crate) fn within<T>(&self, run: impl FnOnce() -> T) -> T {
        run()
    }

    #[inline]
    pub(crate) fn cached(self) {}

    #[inline]
    pub(crate) fn polled<T, E>(&mut self, _: &Poll<Result<T, E>>, _: impl FnOnce(&E) -> AttemptEnd) {}
}
