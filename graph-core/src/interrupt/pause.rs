use std::time::SystemTime;

use serde_json::Value;

use crate::state::GraphState;

use super::{Answer, InterruptMismatch, OpenInterrupt, Question, TypedInterrupt};

/// The state of a run that stopped before it finished: at interrupts, at breakpoints, asleep, or stopped by a
/// [`Stop`](crate::run::Stop).
///
/// An interrupted superstep is not applied, so the state is the one before it. Tasks of that superstep that have finished
/// keep their results.
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
    /// Creates the pause of a thread that waits for nothing.
    pub(crate) fn empty() -> Self {
        let (before, after, next) = (Vec::new(), Vec::new(), Vec::new());
        Self { state: (), interrupts: Vec::new(), before, after, next, stopped: false, wakes_at: None }
    }
}

impl<S> Pause<S> {
    /// Separates the state from the rest.
    pub(crate) fn split(self) -> (S, Pause<()>) {
        let Self { state, interrupts, before, after, next, stopped, wakes_at } = self;
        (state, Pause { state: (), interrupts, before, after, next, stopped, wakes_at })
    }

    /// Returns the state after the last superstep that was applied.
    pub fn state(&self) -> &S {
        &self.state
    }

    /// Returns the state by value.
    pub fn into_state(self) -> S {
        self.state
    }

    /// Replaces the state.
    pub(crate) fn with_state<T>(self, state: T) -> Pause<T> {
        let Self { interrupts, before, after, next, stopped, wakes_at, .. } = self;
        Pause { state, interrupts, before, after, next, stopped, wakes_at }
    }

    /// Returns the open interrupts, ordered by task, and by the order of asking within a task.
    pub fn interrupts(&self) -> &[OpenInterrupt] {
        &self.interrupts
    }

    /// Returns the nodes of the next superstep that have a breakpoint before them.
    pub fn before(&self) -> &[String] {
        &self.before
    }

    /// Returns the nodes of the last superstep that have a breakpoint after them.
    pub fn after(&self) -> &[String] {
        &self.after
    }

    /// Returns the nodes of the planned tasks, one name for each task, including tasks that have already finished.
    pub fn next(&self) -> &[String] {
        &self.next
    }

    /// Returns `true` if the run was stopped by [`Stop::drain`](crate::run::Stop::drain).
    ///
    /// For a pause read from a thread, also `true` if the run was stopped by
    /// [`Stop::cancel`](crate::run::Stop::cancel).
    pub fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Returns the time at which the first [sleeping](crate::Context::sleep) task wakes up, or `None` if no task sleeps.
    ///
    /// A run that is resumed at that time continues without an answer. If a task both sleeps and asks, in a `select!`, its
    /// question expires at that time.
    pub fn wakes_at(&self) -> Option<SystemTime> {
        self.wakes_at
    }

    /// Returns the only open question of type `Q`. Questions of other types may be open as well.
    ///
    /// # Errors
    /// [`InterruptMismatch::NotFound`] if no such question is open, [`InterruptMismatch::Ambiguous`] if several are, and
    /// [`InterruptMismatch::Unreadable`] if its JSON does not fit `Q`.
    pub fn only<Q: Question>(&self) -> Result<TypedInterrupt<Q>, InterruptMismatch> {
        one(&self.interrupts, Q::name(), None)?.read()
    }

    /// Returns all open questions of type `Q`.
    ///
    /// # Errors
    /// [`InterruptMismatch::Unreadable`] if the JSON of one of them does not fit `Q`.
    pub fn all<Q: Question>(&self) -> Result<Vec<TypedInterrupt<Q>>, InterruptMismatch> {
        named(&self.interrupts, Q::name()).map(OpenInterrupt::read).collect()
    }

    /// Returns the open question of type `Q` with this key.
    ///
    /// # Errors
    /// [`InterruptMismatch::NotFound`] if no such question is open, [`InterruptMismatch::Ambiguous`] if several tasks have
    /// asked one, and [`InterruptMismatch::Unreadable`] if its JSON does not fit `Q`.
    pub fn by_key<Q: Question>(&self, key: &str) -> Result<TypedInterrupt<Q>, InterruptMismatch> {
        one(&self.interrupts, Q::name(), Some(key))?.read()
    }

    /// Creates an answer to the only open question, from JSON of a client that sends no id.
    ///
    /// As with [`OpenInterrupt::answer_json`], the answer is refused if the question has changed when the run is resumed.
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
    /// [`InterruptMismatch::NotExactlyOne`], with the ids of the open questions, if none or several are open.
    pub fn answer_json(&self, answer: Value) -> Result<Answer, InterruptMismatch> {
        match self.interrupts.as_slice() {
            [only] => Ok(only.answer_json(answer)),
            open => Err(InterruptMismatch::NotExactlyOne {
                open: open.iter().map(|open| open.id.clone()).collect(),
            }),
        }
    }
}

fn named<'i>(interrupts: &'i [OpenInterrupt], name: &str) -> impl Iterator<Item = &'i OpenInterrupt> {
    interrupts.iter().filter(move |open| open.name == name)
}

/// Returns the only question with a name, and with a key if one is given.
fn one<'i>(
    interrupts: &'i [OpenInterrupt],
    name: &str,
    key: Option<&str>,
) -> Result<&'i OpenInterrupt, InterruptMismatch> {
    let mut found = named(interrupts, name).filter(|open| key.is_none() || open.key.as_deref() == key);
    let wanted = || described(name, key);
    match (found.next(), found.count()) {
        (Some(open), 0) => Ok(open),
        (Some(_), others) => Err(InterruptMismatch::Ambiguous { wanted: wanted(), count: others + 1 }),
        (None, _) => {
            let mut open: Vec<String> =
                interrupts.iter().map(|open| described(&open.name, open.key.as_deref())).collect();
            open.dedup();
            Err(InterruptMismatch::NotFound { wanted: wanted(), open })
        }
    }
}

/// Returns a question as error texts name it.
fn described(name: &str, key: Option<&str>) -> String {
    key.map_or_else(|| format!("`{name}`"), |key| format!("`{name}` with key `{key}`"))
}

impl<S: GraphState> std::fmt::Debug for Pause<S> {
    /// Formats the state by its dump rules, so that excluded fields do not get into logs.
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

/// Formats a pause that was read without its state.
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
