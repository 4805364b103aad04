use std::time::SystemTime;

use serde_json::Value;

use crate::state::GraphState;

use super::{Answer, Asked, NotAsked, OpenQuestion, Question};

/// A run that has stopped on the way: at questions, at breakpoints, or where it was told to.
///
/// The superstep that asked is not applied: the state is the one before it. Tasks of it that have finished keep their work.
#[derive(Clone)]
#[non_exhaustive]
pub struct Pause<S> {
    pub(crate) state: S,
    pub(crate) questions: Vec<OpenQuestion>,
    pub(crate) before: Vec<String>,
    pub(crate) after: Vec<String>,
    pub(crate) next: Vec<String>,
    pub(crate) told: bool,
    pub(crate) wakes_at: Option<SystemTime>,
}

impl Pause<()> {
    /// Of a thread that waits for nothing.
    pub(crate) fn nothing() -> Self {
        let (before, after, next) = (Vec::new(), Vec::new(), Vec::new());
        Self { state: (), questions: Vec::new(), before, after, next, told: false, wakes_at: None }
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
        let Self { questions, before, after, next, told, wakes_at, .. } = self;
        Pause { state, questions, before, after, next, told, wakes_at }
    }

    /// The open questions, in the order of their tasks, those of a task in the order in which it asked them.
    pub fn questions(&self) -> &[OpenQuestion] {
        &self.questions
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

    /// Whether it has stopped because it was told to: by [`Stop::drain`](crate::run::Stop::drain), and on a thread by
    /// [`Stop::cancel`](crate::run::Stop::cancel) as well.
    pub fn is_told(&self) -> bool {
        self.told
    }

    /// When the first of its tasks wakes up that [sleep](crate::Cx::sleep): resumed then, it goes on by itself. Where nobody
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
    pub fn only<Q: Question>(&self) -> Result<Asked<Q>, NotAsked> {
        self.one(Q::name().to_owned(), |_| true)
    }

    /// Every open question that is a `Q`.
    ///
    /// # Errors
    /// The JSON of one of them is none of `Q`.
    pub fn all<Q: Question>(&self) -> Result<Vec<Asked<Q>>, NotAsked> {
        self.named::<Q>().map(OpenQuestion::read).collect()
    }

    /// The open question that is a `Q` and was given this key.
    ///
    /// # Errors
    /// None is open, or several are (of several tasks), or its JSON is none of `Q`.
    pub fn by_key<Q: Question>(&self, key: &str) -> Result<Asked<Q>, NotAsked> {
        self.one(format!("{} with key {key}", Q::name()), |open| open.key.as_deref() == Some(key))
    }

    /// Answers the only open question with JSON from a client that says no more, as [`OpenQuestion::answer_json`] does: should
    /// another be asked by the time that the run is resumed, the answer is refused.
    ///
    /// ```
    /// # use superstep::{Cx, END, GraphState, START, StateGraph, checkpoint::MemoryCheckpointer, interrupt::Question};
    /// # #[derive(GraphState, Clone)]
    /// # struct Order { #[state(output)] approved: bool }
    /// # #[derive(serde::Serialize, serde::Deserialize)]
    /// # struct Approve;
    /// # impl Question for Approve { type Answer = bool; }
    /// # async fn review(_: &Order, cx: &Cx) -> OrderUpdate {
    /// #     Order::update().approved(cx.interrupt(Approve).await)
    /// # }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = StateGraph::<Order>::new().edge(START, review).edge(review, END).compile()?;
    /// # let thread = graph.with_checkpointer(MemoryCheckpointer::default()).thread("17");
    /// # thread.run(Order::input()).await?;
    /// let body = serde_json::json!(true);
    /// let answer = thread.pending().await?.answer_json(body)?;
    /// assert!(thread.resume(answer).await?.state().approved);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// None is open, or several are: [`NotAsked::NotAlone`] has their ids.
    pub fn answer_json(&self, answer: Value) -> Result<Answer, NotAsked> {
        match self.questions.as_slice() {
            [only] => Ok(only.answer_json(answer)),
            open => Err(NotAsked::NotAlone { open: open.iter().map(|open| open.id.clone()).collect() }),
        }
    }

    fn named<Q: Question>(&self) -> impl Iterator<Item = &OpenQuestion> {
        self.questions.iter().filter(|open| open.name == Q::name())
    }

    fn one<Q: Question>(
        &self,
        wanted: String,
        is: impl Fn(&OpenQuestion) -> bool,
    ) -> Result<Asked<Q>, NotAsked> {
        let mut found = self.named::<Q>().filter(|open| is(open));
        match (found.next(), found.count()) {
            (Some(open), 0) => open.read(),
            (Some(_), others) => Err(NotAsked::Ambiguous { wanted, count: others + 1 }),
            (None, _) => {
                let mut open: Vec<String> = self.questions.iter().map(|open| open.name.clone()).collect();
                open.dedup();
                Err(NotAsked::Nowhere { wanted, open })
            }
        }
    }
}

impl<S: GraphState> std::fmt::Debug for Pause<S> {
    /// By the dump rules: what a state keeps to itself does not get into logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pause")
            .field("state", &self.state.dump())
            .field("questions", &self.questions)
            .field("before", &self.before)
            .field("after", &self.after)
            .field("next", &self.next)
            .field("told", &self.told)
            .field("wakes_at", &self.wakes_at)
            .finish()
    }
}

/// What a thread waits for is told without its state.
impl std::fmt::Debug for Pause<()> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pause")
            .field("questions", &self.questions)
            .field("before", &self.before)
            .field("after", &self.after)
            .field("next", &self.next)
            .field("told", &self.told)
            .field("wakes_at", &self.wakes_at)
            .finish()
    }
}
