//! Spans with the feature `tracing`.

use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;

use futures_util::future::Either;
use tracing::field::Empty;
use tracing::instrument::{Instrument as _, WithSubscriber as _};
use tracing::level_filters::{LevelFilter, STATIC_MAX_LEVEL};
use tracing::subscriber::NoSubscriber;
use tracing::{Level, Span, dispatcher, info_span, span_enabled};

use crate::Outcome;
use crate::engine::About;
use crate::engine::at::At;
use crate::engine::spans::AttemptEnd;
use crate::error::{Error, ErrorKind};

/// The end of a run, superstep or attempt, as its span records it.
#[derive(Clone, Copy)]
struct SpanEnd {
    outcome: &'static str,
    error: Option<&'static str>,
}

impl SpanEnd {
    /// The end of a span that is dropped before anything else was recorded.
    const CANCELLED: Self = Self::without_error("cancelled");

    const fn without_error(outcome: &'static str) -> Self {
        Self { outcome, error: None }
    }

    const fn failed(error: &'static str) -> Self {
        Self { outcome: "failed", error: Some(error) }
    }

    fn of<T>(result: &Result<T, Error>, outcome: impl FnOnce(&T) -> &'static str) -> Self {
        match result {
            Ok(done) => Self::without_error(outcome(done)),
            Err(error) => Self::of_error(error),
        }
    }

    fn of_error(error: &Error) -> Self {
        match error.kind() {
            ErrorKind::Cancelled { .. } => Self::CANCELLED,
            kind => Self::failed(kind.name()),
        }
    }

    fn record(self, span: &Span) {
        span.record("graph.outcome", self.outcome);
        if let Some(error) = self.error {
            span.record("error.type", error).record("otel.status_code", "ERROR");
        }
    }
}

/// The span of a run, shared by all parts of the run. It closes with the last of them.
#[derive(Clone)]
pub(crate) struct RunSpan(Option<Arc<Trace>>);

struct Trace {
    span: Span,
    graph: Box<str>,
    thread: Option<Box<str>>,
    /// `true` if the span already has the run's id.
    has_id: bool,
    supersteps: AtomicU64,
    end: Mutex<SpanEnd>,
}

impl Drop for Trace {
    fn drop(&mut self) {
        self.span.record("graph.supersteps", self.supersteps.load(Ordering::Relaxed));
        self.end.get_mut().unwrap_or_else(PoisonError::into_inner).record(&self.span);
    }
}

impl RunSpan {
    pub(crate) fn none() -> Self {
        Self(None)
    }

    /// Opens the span of a run that begins now, inside the current span. The span stays empty if there is no
    /// subscriber now.
    pub(crate) fn begin<'a>(graph: &str, about: impl FnOnce() -> About<'a>) -> Self {
        if Level::INFO > STATIC_MAX_LEVEL || LevelFilter::current() < LevelFilter::INFO {
            return Self(None);
        }
        Self::listened(graph, about())
    }

    #[cold]
    fn listened(graph: &str, about: About<'_>) -> Self {
        // The maximum level applies to the whole process, so this thread may have no subscriber even if the level is
        // enabled. A span first created on such a thread would also be cached as disabled everywhere.
        if dispatcher::get_default(|subscriber| subscriber.is::<NoSubscriber>()) {
            return Self(None);
        }
        let span = info_span!(
            target: "superstep",
            "run",
            otel.name = format!("invoke_agent {graph}"),
            otel.kind = "internal",
            otel.status_code = Empty,
            gen_ai.operation.name = "invoke_agent",
            gen_ai.agent.name = graph,
            gen_ai.conversation.id = about.thread,
            graph.run.id = about.run_id,
            graph.run.begin = about.begin,
            graph.supersteps = Empty,
            graph.outcome = Empty,
            "error.type" = Empty,
        );
        if span.is_disabled() && !span_enabled!(target: "superstep", Level::INFO) {
            return Self(None);
        }
        Self(Some(Arc::new(Trace {
            span,
            graph: graph.into(),
            thread: about.thread.map(Into::into),
            has_id: about.run_id.is_some(),
            supersteps: AtomicU64::new(0),
            end: Mutex::new(SpanEnd::CANCELLED),
        })))
    }

    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.0.is_some()
    }

    fn span(&self) -> Span {
        self.0.as_ref().map_or_else(Span::none, |trace| trace.span.clone())
    }

    pub(crate) fn instrument<F: Future>(&self, future: F) -> impl Future<Output = F::Output> + use<F> {
        future.instrument(self.span())
    }

    pub(crate) fn within<T>(&self, run: impl FnOnce() -> T) -> T {
        self.span().in_scope(run)
    }

    /// Records the id of the run, once it is known.
    pub(crate) fn has_id(&self, id: Option<&str>) {
        if let (Some(trace), Some(id)) = (&self.0, id)
            && !trace.has_id
        {
            trace.span.record("graph.run.id", id);
        }
    }

    fn ends(&self, end: impl FnOnce() -> SpanEnd) {
        if let Some(trace) = &self.0 {
            *trace.end.lock().unwrap_or_else(PoisonError::into_inner) = end();
        }
    }

    /// Records the start of a run that is stepped by hand, or its refusal.
    pub(crate) fn begun<T>(&self, result: &Result<T, Error>) {
        if let Err(error) = result {
            self.ends(|| SpanEnd::of_error(error));
        }
    }

    /// Records one step of a run that is stepped by hand. The run may continue after a failure and after a stop.
    pub(crate) fn stepped(&self, result: &Result<bool, Error>, stopped: bool) {
        self.ends(|| match result {
            Ok(true) => SpanEnd::CANCELLED,
            result => SpanEnd::of(result, |_| if stopped { "interrupted" } else { "done" }),
        });
    }

    pub(crate) fn ended<S>(&self, result: &Result<(u64, Outcome<S>), Error>) {
        self.ends(|| {
            SpanEnd::of(result, |(_, outcome)| match outcome {
                Outcome::Done(_) => "done",
                Outcome::Interrupted(_) => "interrupted",
            })
        });
    }

    /// Opens the span of a superstep, inside the current span, which is the run's if it is enabled.
    pub(crate) fn superstep(&self, step: u64, tasks: usize) -> SuperstepSpan {
        SuperstepSpan(self.0.as_ref().map(|trace| {
            let span = info_span!(
                target: "superstep",
                "superstep",
                otel.name = format!("superstep {step}"),
                otel.kind = "internal",
                otel.status_code = Empty,
                gen_ai.agent.name = &*trace.graph,
                gen_ai.conversation.id = trace.thread.as_deref(),
                graph.step = step,
                graph.tasks = tasks,
                graph.outcome = Empty,
                "error.type" = Empty,
            );
            (OpenSpan { span, end: SpanEnd::CANCELLED }, Arc::clone(trace))
        }))
    }

    /// Opens the span of an attempt of a node.
    pub(crate) fn node(&self, node: &str, at: At) -> NodeSpan {
        NodeSpan(self.0.as_ref().map(|trace| {
            let span = info_span!(
                target: "superstep",
                "node",
                otel.name = format!("node {node}"),
                otel.kind = "internal",
                otel.status_code = Empty,
                gen_ai.agent.name = &*trace.graph,
                gen_ai.conversation.id = trace.thread.as_deref(),
                graph.node = node,
                graph.step = at.step,
                graph.task = at.task,
                graph.attempt = at.attempt,
                graph.outcome = Empty,
                "error.type" = Empty,
            );
            OpenSpan { span, end: SpanEnd::CANCELLED }
        }))
    }

    /// Prepares a future for spawning: it keeps the current span and the current subscriber.
    pub(crate) fn carried<F: Future>(&self, future: F) -> impl Future<Output = F::Output> + use<F> {
        match &self.0 {
            None => Either::Left(future),
            Some(_) => Either::Right(future.in_current_span().with_current_subscriber()),
        }
    }
}

/// A span that records its end when it closes.
struct OpenSpan {
    span: Span,
    end: SpanEnd,
}

impl Drop for OpenSpan {
    fn drop(&mut self) {
        self.end.record(&self.span);
    }
}

pub(crate) struct SuperstepSpan(Option<(OpenSpan, Arc<Trace>)>);

impl SuperstepSpan {
    pub(crate) fn instrument<F: Future>(&self, future: F) -> impl Future<Output = F::Output> + use<F> {
        future.instrument(self.0.as_ref().map_or_else(Span::none, |(open, _)| open.span.clone()))
    }

    pub(crate) fn ended(mut self, result: &Result<bool, Error>) {
        if let Some((open, trace)) = &mut self.0 {
            open.end = SpanEnd::of(result, |applied| if *applied { "done" } else { "interrupted" });
            if matches!(result, Ok(true)) {
                trace.supersteps.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

pub(crate) struct NodeSpan(Option<OpenSpan>);

impl NodeSpan {
    #[inline]
    pub(crate) fn within<T>(&self, run: impl FnOnce() -> T) -> T {
        match &self.0 {
            None => run(),
            Some(open) => open.span.in_scope(run),
        }
    }

    /// Records the result of the attempt, and closes its span.
    #[inline]
    pub(crate) fn polled<T, E>(&mut self, polled: &Poll<Result<T, E>>, end: impl FnOnce(&E) -> AttemptEnd) {
        if let (Some(_), Poll::Ready(result)) = (&self.0, polled) {
            self.ended(result.as_ref().err().map(end));
        }
    }

    /// Records that the task's result was found in the cache.
    pub(crate) fn cached(mut self) {
        if let Some(open) = &mut self.0 {
            open.end = SpanEnd::without_error("cached");
        }
    }

    #[cold]
    fn ended(&mut self, end: Option<AttemptEnd>) {
        let end = match end {
            None => SpanEnd::without_error("ok"),
            Some(AttemptEnd::Suspended) => SpanEnd::without_error("suspended"),
            Some(AttemptEnd::Failed(error)) => SpanEnd::failed(error),
            Some(AttemptEnd::Panicked) => SpanEnd { outcome: "panicked", error: Some("panic") },
        };
        if let Some(mut open) = self.0.take() {
            open.end = end;
        }
    }
}
