use std::time::SystemTime;

use serde_json::Value;

use crate::state::GraphState;

use super::{Answer, InterruptMismatch, OpenInterrupt, Question, TypedInterrupt};

/// A run that has stopped on the way: at interrupts, at breakpoints, or where it was stopped to.
///
/// The superstep that asked is not applied: the state is the one before it. Tasks of it that have finished keep their work.
#[derive(Clone)]
#[non_exhaustive]
pub struct Pause<S> {
    pub(crate) state: S,
    pub(crate) interrupts: Vec<OpenInterrupt>,
    pub(crate) before: Vec<String>,
    pub(crate) after: Vec<String>,
    pub(crate) next: Vec<String>,
    pub(crate) stopped: bool,
    pub(crate) wakes_at: Option<SystemTime>,
}

impl Pause<()> {
    /// Of a thread that waits for nothing.
    pub(crate) fn nothing() -> Self {
        let (before, after, next) = (Vec::new(), Vec::new(), Vec::new());
        Self { state: (), interrupts: Vec::new(), before, after, next, stopped: false, wakes_at: None }
    }
}

impl<S> Pause<S> {
    /// The state as of the last superstep that was applied.
    pub fn state(&self) -> &S {
        &self.state
    }

    /// The state, by value.
    pub fn into_state(self) -> S {
        self.state
    }

    /// The same stop, of this state.
    pub(crate) fn with_state<T>(self, state: T) -> Pause<T> {
        let Self { interrupts, before, after, next, stopped, wakes_at, .. } = self;
        Pause { state, interrupts, before, after, next, stopped, wakes_at }
    }

    /// The open interrupts, in the order of their tasks, those of a task in the order in which it asked them.
    pub fn interrupts(&self) -> &[OpenInterrupt] {
        &self.interrupts
    }

    /// The nodes with a breakpoint before them that would run next.
    pub fn before(&self) -> &[String] {
        &self.before
    }

    /// The nodes with a breakpoint after them that have just run.
    pub fn after(&self) -> &[String] {
        &self.after
    }

    /// The nodes that are planned: one name for each task, those included that have finished before the others.
    pub fn next(&self) -> &[String] {
        &self.next
    }

    /// Whether it has stopped because it was stopped to: by [`Stop::drain`](crate::run::Stop::drain), and on a thread by
    /// [`Stop::cancel`](crate::run::Stop::cancel) as well.
    pub fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// When the first of its tasks wakes up that [sleep](crate::Context::sleep): resumed then, it goes on by itself. Where nobody
    /// sleeps it is nothing.
    ///
    /// A task may sleep and ask at once, in a `select!`: then its question runs out at that time.
    pub fn wakes_at(&self) -> Option<SystemTime> {
        self.wakes_at
    }

    /// The only open question that is a `Q`; others may be open as well.
    ///
    /// # Errors
    /// None is open, or several are, or its JSON is none of `Q`.
    pub fn only<Q: Question>(&self) -> Result<TypedInterrupt<Q>, InterruptMismatch> {
        self.one(Q::name().to_owned(), |_| true)
    }

    /// Every open question that is a `Q`.
    ///
    /// # Errors
    /// The JSON of one of them is none of `Q`.
    pub fn all<Q: Question>(&self) -> Result<Vec<TypedInterrupt<Q>>, InterruptMismatch> {
        self.named::<Q>().map(OpenInterrupt::read).collect()
    }

    /// The open question that is a `Q` and was given this key.
    ///
    /// # Errors
    /// None is open, or several are (of several tasks), or its JSON is none of `Q`.
    pub fn by_key<Q: Question>(&self, key: &str) -> Result<TypedInterrupt<Q>, InterruptMismatch> {
        self.one(format!("{} with key {key}", Q::name()), |open| open.key.as_deref() == Some(key))
    }

    /// Answers the only open question with JSON from a client that says no more, as [`OpenInterrupt::answer_json`] does: should
    /// another be asked by the time that the run is resumed, the answer is refused.
    ///
    /// ```
    /// # use superstep::{Context, END, GraphState, START, StateGraph, checkpoint::MemoryCheckpointer, interrupt::Question};
    /// # #[derive(GraphState, Clone)]
    /// # struct Order { #[state(output)] approved: bool }
    /// # #[derive(serde::Serialize, serde::Deserialize)]
    /// # struct Approve;
    /// # impl Question for Approve { type Answer = bool; }
    /// # async fn review(_: &Order, cx: &Context) -> OrderUpdate {
    /// #     Order::update().approved(cx.interrupt(Approve).await)
    /// # }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = StateGraph::<Order>::new().edge(START, review).edge(review, END).compile()?;
    /// # let thread = graph.with_checkpointer(MemoryCheckpointer::default()).thread("17");
    /// # thread.run(Order::input()).await?;
    /// let body = serde_json::json!(true);
    /// let answer = thread.interrupts().await?.answer_json(body)?;
    /// assert!(thread.resume(answer).await?.state().approved);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// None is open, or several are: [`InterruptMismatch::NotExactlyOne`] has their ids.
    pub fn answer_json(&self, answer: Value) -> Result<Answer, InterruptMismatch> {
        match self.interrupts.as_slice() {
            [only] => Ok(only.answer_json(answer)),
            open => Err(InterruptMismatch::NotExactlyOne {
                open: open.iter().map(|open| open.id.clone()).collect(),
            }),
        }
    }

    fn named<Q: Question>(&self) -> impl Iterator<Item = &OpenInterrupt> {
        self.interrupts.iter().filter(|open| open.name == Q::name())
    }

    fn one<Q: Question>(
        &self,
        wanted: String,
        is: impl Fn(&OpenInterrupt) -> bool,
    ) -> Result<TypedInterrupt<Q>, InterruptMismatch> {
        let mut found = self.named::<Q>().filter(|open| is(open));
        match (found.next(), found.count()) {
            (Some(open), 0) => open.read(),
            (Some(_), others) => Err(InterruptMismatch::Ambiguous { wanted, count: others + 1 }),
            (None, _) => {
                let mut open: Vec<String> = self.interrupts.iter().map(|open| open.name.clone()).collect();
                open.dedup();
                Err(InterruptMismatch::NotFound { wanted, open })
            }
        }
    }
}

impl<S: GraphState> std::fmt::Debug for Pause<S> {
    /// By the dump rules: what a state keeps to itself does not get into logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pause")
            .field("state", &self.state.dump())
            .field("interrupts", &self.interrupts)
            .field("before", &self.before)
            .field("after", &self.after)
            .field("next", &self.next)
            .field("stopped", &self.stopped)
            .field("wakes_at", &self.wakes_at)
            .finish()
    }
}

/// What a thread waits for is stopped without its state.
impl std::fmt::Debug for Pause<()> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pause")
            .field("interrupts", &self.interrupts)
            .field("before", &self.before)
            .field("after", &self.after)
            .field("next", &self.next)
            .field("stopped", &self.stopped)
            .field("wakes_at", &self.wakes_at)
            .finish()
    }
}
