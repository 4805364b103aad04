use std::future::Future;
use std::pin::Pin;
use std::task::{Poll, Waker};
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::engine::Context;
use crate::error::{Error, ErrorKind, NodeFailure};
use crate::interrupt::{
    EarlierForm, EarlierForms, OpenInterrupt, Question, QuestionType, QuestionTypeOf as _, is_same_question,
    valid_answer,
};
use crate::limits::MAX_KEY_BYTES;
use crate::payload::{Unstorable, from_json, to_json, to_payload};
use crate::state::MigrationError;

use super::ids::{self, Which};
use super::memo::Answered;
use super::sleep::Wake;
use super::{Sleep, TimedInterrupt};

/// A question to a person; created by [`Context::interrupt`]. Its output is the answer.
///
/// The interrupt is open from the first poll without an answer until the future is dropped.
// Generic over the answer only: rustc then reports a problem with a question once, where it is asked.
#[must_use = "a question is asked when the interrupt is awaited"]
pub struct Interrupt<'c, A> {
    question: Box<dyn Ask<A> + 'c>,
    asking: Asking<'c>,
    /// `true` while it waits for an answer.
    open: bool,
    answered: bool,
}

/// A question of any type whose answer is an `A`.
trait Ask<A>: Send + Sync {
    /// Asks for the answer; without one the interrupt is open.
    fn ask(&self, by: &Asking<'_>, waker: &Waker) -> Asked<A>;
}

/// The result of asking.
enum Asked<A> {
    Answer(A),
    /// There is an answer, and it is not its turn.
    Blocked,
    Open,
}

/// The part of an [`Interrupt`] that does not depend on the type of its question.
struct Asking<'c> {
    cx: &'c Context,
    of: &'static QuestionType,
    /// Its number among the attempt's questions of this type; not used with a key.
    nth: usize,
    key: Option<String>,
    id: String,
    /// Its position among the attempt's questions and sleeps.
    place: usize,
}

impl Context {
    /// Asks a person a question, and returns the answer.
    ///
    /// Without an answer the task is suspended, and the run ends with
    /// [`Outcome::Interrupted`](crate::Outcome::Interrupted).
    ///
    /// ```
    /// # use superstep::{Context, END, GraphState, Outcome, START, StateGraph, interrupt::Question};
    /// # use serde::{Deserialize, Serialize};
    /// #[derive(Serialize, Deserialize)]
    /// struct Approve {
    ///     price: u32,
    /// }
    ///
    /// impl Question for Approve {
    ///     type Answer = bool;
    /// }
    ///
    /// # #[derive(GraphState, Clone)]
    /// # struct Order { #[state(input)] price: u32, bought: bool }
    /// async fn buy(order: &Order, cx: &Context) -> OrderUpdate {
    ///     let approved = cx.interrupt(Approve { price: order.price }).await;
    ///     Order::update().bought(approved)
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> superstep::Result<()> {
    /// let graph = StateGraph::<Order>::new().edge(START, buy).edge(buy, END).compile()?;
    /// let mut run = graph.run(Order::input(17)).start()?;
    /// while run.step().await? {}
    ///
    /// let asked = run.pause().expect("the run waits for an answer").only::<Approve>()?;
    /// assert_eq!(asked.price, 17);
    ///
    /// run.answer(asked.answer(true))?;
    /// assert!(run.finish().await?.into_state().bought);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// The task is suspended when its future is next pending while an interrupt is open. Its future is dropped then.
    /// A suspension is not an error value, so a node cannot catch it. An interrupt that is dropped earlier is
    /// withdrawn, for example in a `select!` whose other branch is ready. Several interrupts can be open at once,
    /// with `join!`.
    ///
    /// After answers have arrived, the node runs again from its beginning. An answered question returns its answer at
    /// once if it is unchanged; a question that has changed is asked again. Put an effect that must not be repeated
    /// before a question into a [`step`](Self::step).
    ///
    /// Questions of one type are identified by the order in which the node asks them. If that order may change from
    /// one attempt to the next, give each question a [key](Interrupt::keyed).
    ///
    /// An answer that was accepted is delivered: an attempt that is given an answer and does not ask for it fails with
    /// an error that names the question, and the answer stays stored. Answers and [timers](Self::sleep) take effect in
    /// the order in which they were recorded, in every attempt. So a `select!` of a question and a sleep always takes
    /// the same branch. For a question that expires, use [`within`](Interrupt::within).
    ///
    /// # Cancel safety
    /// Dropping the future withdraws the question. A question with a key may be asked again, with the same id.
    pub fn interrupt<Q: Question>(&self, question: Q) -> Interrupt<'_, Q::Answer> {
        Interrupt {
            question: Box::new(question),
            asking: Asking::new(self, Q::TYPE),
            open: false,
            answered: false,
        }
    }
}

impl<Q: Question> Ask<Q::Answer> for Q {
    fn ask(&self, by: &Asking<'_>, waker: &Waker) -> Asked<Q::Answer> {
        match by.ask(&|| to_json(self), waker) {
            Asked::Answer((question, answer)) => match from_json(answer) {
                Ok(answer) => Asked::Answer(answer),
                Err(error) => {
                    by.ask_again(question, error.to_string());
                    Asked::Open
                }
            },
            Asked::Blocked => Asked::Blocked,
            Asked::Open => Asked::Open,
        }
    }
}

impl<'c> Asking<'c> {
    fn new(cx: &'c Context, of: &'static QuestionType) -> Self {
        let (desk, name) = (cx.desk(), (of.name)());
        let nth = desk.take_number(name);
        let id = ids::question(&desk.task, name, Which::Nth(nth));
        Self { cx, of, nth, key: None, id, place: desk.place() }
    }

    fn name(&self) -> &'static str {
        (self.of.name)()
    }

    /// Asks for the answer, and returns it with the question. Any problem with either fails the attempt.
    fn ask(&self, question: &dyn Fn() -> Result<Value, Unstorable>, waker: &Waker) -> Asked<(Value, Value)> {
        let (desk, name) = (self.cx.desk(), self.name());
        if desk.is_in_step() {
            desk.fail(AskError::InStep { name }.into());
            return Asked::Open;
        }
        if self.id.len() > MAX_KEY_BYTES {
            desk.fail(AskError::LongId { name, length: self.id.len() }.into());
            return Asked::Open;
        }
        let question = match question() {
            Ok(question) => question,
            Err(unstorable) => {
                let reason = unstorable.to_string();
                desk.fail(AskError::Unstorable { name, reason }.into());
                return Asked::Open;
            }
        };
        let answer = match self.cx.answer_to(self.of, &self.id, &question) {
            Err(reason) => {
                desk.fail(AskError::Outdated { name, id: self.id.clone(), reason }.into());
                return Asked::Open;
            }
            Ok(Some(_)) if !self.cx.is_next(&self.id) => {
                desk.block(&desk.uncounted(waker));
                return Asked::Blocked;
            }
            Ok(answer) => {
                // Without an answer to the question as it is asked now, an earlier one is outdated.
                self.cx.settle_answer(&self.id);
                answer
            }
        };
        let Some(answer) = answer.or_else(|| self.cx.scripted(name)) else {
            let open = self.to_open(question);
            if let Some(Err(unstorable)) = open.answer_schema.as_ref().map(to_payload) {
                let reason = format!("has an answer schema that {unstorable}");
                desk.fail(AskError::Unstorable { name, reason }.into());
                return Asked::Open;
            }
            desk.open(self.place, open);
            return Asked::Open;
        };
        Asked::Answer((question, answer))
    }

    /// Drops an answer that cannot be read, and opens the question again.
    fn ask_again(&self, question: Value, reason: String) {
        let desk = self.cx.desk();
        self.cx.memo(|memo| memo.answers.remove(&self.id));
        desk.reopen(self.to_open(question));
        desk.fail(AskError::Answer { name: self.name(), id: self.id.clone(), reason }.into());
    }

    /// Closes the interrupt without an answer.
    fn withdraw(&self) {
        self.cx.desk().withdraw(self.place);
    }

    /// Releases the key of a question that was not answered, so that it can be asked again.
    fn release(&self) {
        if self.key.is_some() {
            self.cx.desk().release_key(&self.id);
        }
    }

    /// Creates the timer of the question's deadline, and returns its id.
    fn deadline(&self, wake: Wake) -> (String, Sleep<'c>) {
        let desk = self.cx.desk();
        let question = self.id.strip_prefix(&*desk.task).unwrap_or(&self.id).trim_start_matches('/');
        let id = ids::deadline(question, desk.nth_deadline(question));
        (id.clone(), Sleep::of_deadline(self.cx, id, wake))
    }

    /// Notes the time of the timer in the open question.
    fn expires(&self, deadline: &str) {
        self.cx.desk().expires(self.place, &self.id, self.cx.timer_end(deadline));
    }

    /// Identifies the question by a key instead of its number.
    fn set_key(&mut self, key: &str) {
        let (desk, name) = (self.cx.desk(), self.name());
        match self.key {
            None => desk.release_number(name, self.nth),
            Some(_) => desk.release_key(&self.id),
        }
        self.id = ids::question(&desk.task, name, Which::Key(key));
        if !desk.key(&self.id) {
            desk.fail(AskError::KeyTwice { name, key: key.to_owned() }.into());
        }
        self.key = Some(key.to_owned());
    }

    fn to_open(&self, question: Value) -> OpenInterrupt {
        let earlier = self.earlier_forms(&question);
        OpenInterrupt {
            id: self.id.clone(),
            node: self.cx.node().to_owned(),
            task: self.cx.at.task,
            name: self.name().to_owned(),
            key: self.key.clone(),
            question,
            version: self.of.version,
            answer_schema: (self.of.answer_schema)(),
            namespace: Vec::new(),
            expires_at: None,
            earlier,
        }
    }

    /// Returns the other forms in which the question was open before, if they ask the same.
    fn earlier_forms(&self, asked: &Value) -> EarlierForms {
        let open = self.cx.memo(|memo| memo.restored.get(&self.id).cloned());
        let Some(open) = open else { return EarlierForms::default() };
        let is_same = |form: &EarlierForm| {
            (form.version != self.of.version || form.question != *asked)
                && is_same_question(self.of, (&form.question, form.version), asked).unwrap_or(false)
        };
        EarlierForms(open.into_forms().filter(is_same).collect())
    }
}

impl Context {
    /// Returns the stored answer, if it answers the question as it is asked now.
    fn answer_to(&self, of: &QuestionType, id: &str, asked: &Value) -> Result<Option<Value>, MigrationError> {
        let own = self.memo(|memo| memo.answers.get(id).cloned());
        // The answer may have arrived through the parent run, whose subgraph call begins again.
        for answered in own.iter().chain(self.shared.nest.answers.get(id)) {
            let Answered { question, answer, versions } = answered;
            let valid = valid_answer(of, (question, versions.0), (answer, versions.1), asked)?;
            if valid.is_some() {
                return Ok(valid);
            }
        }
        Ok(None)
    }
}

impl<'c, A> Interrupt<'c, A> {
    /// Identifies the question by its type and a key, instead of its number among the questions of its type.
    ///
    /// Use keys for questions that a node may ask in a different order, or not at all, when it runs again. Questions
    /// in a loop over a collection are an example.
    ///
    /// ```
    /// # use superstep::{Context, GraphState, interrupt::Question};
    /// # #[derive(serde::Serialize, serde::Deserialize)]
    /// # struct Approve { item: String }
    /// # impl Question for Approve { type Answer = bool; }
    /// # #[derive(GraphState, Clone)]
    /// # struct Order { #[state(input)] items: Vec<String>, approved: bool }
    /// async fn review(order: &Order, cx: &Context) -> OrderUpdate {
    ///     let mut approved = true;
    ///     for item in &order.items {
    ///         approved &= cx.interrupt(Approve { item: item.clone() }).keyed(item).await;
    ///     }
    ///     Order::update().approved(approved)
    /// }
    /// ```
    ///
    /// A question that was dropped without an answer, in a loop with reminders for example, may be asked again with its
    /// key. It is then the same question, with the same id. Otherwise two questions of one type with the same key in one
    /// attempt fail the task. A second key replaces the first.
    pub fn keyed(mut self, key: impl AsRef<str>) -> Self {
        // After a poll, the question is open under its old id.
        if std::mem::take(&mut self.open) {
            self.asking.withdraw();
        }
        self.asking.set_key(key.as_ref());
        self
    }

    /// Lets the question expire: the output is `None` if no answer was given within `duration`.
    ///
    /// The duration is measured from the first time that the task asks. The task is suspended, and
    /// [`Pause::wakes_at`](crate::interrupt::Pause::wakes_at) returns the time at which the question expires. Resume
    /// the thread then: [`due`](crate::thread::PersistentGraph::due) lists it.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use superstep::{Context, GraphState, interrupt::Question};
    /// # #[derive(serde::Serialize, serde::Deserialize)]
    /// # struct Approve;
    /// # impl Question for Approve { type Answer = bool; }
    /// # #[derive(GraphState, Clone)]
    /// # struct Order { approved: bool }
    /// async fn review(_: &Order, cx: &Context) -> OrderUpdate {
    ///     let day = Duration::from_secs(24 * 60 * 60);
    ///     let approved = cx.interrupt(Approve).within(day).await.unwrap_or(false);
    ///     Order::update().approved(approved)
    /// }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> superstep::Result<()> {
    /// # let order = Order::started(Order::input())?;
    /// # let update = review(&order, &Context::detached("review").answering::<Approve>(true)).await;
    /// # assert!(order.updated(update)?.approved);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// An answer and the deadline never compete. The expiry is stored before the node continues, and closes the
    /// question: a later answer is refused when it is given. An answer that was accepted before that wins, even if it
    /// came after the deadline.
    ///
    /// A question with a [key](Self::keyed) may be asked again after it has expired. It has the same id, and a deadline
    /// of its own.
    ///
    /// # Errors
    /// The task fails if the time is beyond the range of the system clock, or if tokio's timer is not enabled.
    ///
    /// # Cancel safety
    /// Dropping the future withdraws the question. Its deadline is kept: the same question, asked again in a later attempt
    /// of the task, expires at the same time.
    ///
    /// # Durability
    /// With a checkpointer, the time is stored before the task is suspended, and the expiry before the output is `None`.
    pub fn within(self, duration: Duration) -> TimedInterrupt<'c, A> {
        TimedInterrupt::new(self, Wake::After(duration))
    }

    /// Lets the question expire at a time; otherwise like [`within`](Self::within).
    ///
    /// # Errors
    /// As [`within`](Self::within).
    ///
    /// # Cancel safety
    /// As [`within`](Self::within). The time of the first attempt counts.
    ///
    /// # Durability
    /// As [`within`](Self::within).
    pub fn until(self, time: SystemTime) -> TimedInterrupt<'c, A> {
        TimedInterrupt::new(self, Wake::At(time))
    }

    /// Creates the timer of the question's deadline, and returns its id.
    pub(super) fn deadline(&self, wake: Wake) -> (String, Sleep<'c>) {
        self.asking.deadline(wake)
    }

    /// Notes the time of the timer in the open question.
    pub(super) fn expires(&self, deadline: &str) {
        self.asking.expires(deadline);
    }
}

impl<A> Future for Interrupt<'_, A> {
    type Output = A;

    fn poll(mut self: Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> Poll<A> {
        // An answer never arrives during an attempt: the task is suspended, and runs again with the answer.
        if self.open {
            return Poll::Pending;
        }
        match self.question.ask(&self.asking, cx.waker()) {
            Asked::Answer(answer) => {
                self.answered = true;
                Poll::Ready(answer)
            }
            Asked::Blocked => Poll::Pending,
            Asked::Open => {
                self.open = true;
                Poll::Pending
            }
        }
    }
}

impl<A> Drop for Interrupt<'_, A> {
    fn drop(&mut self) {
        if self.open {
            self.asking.withdraw();
        }
        if !self.answered {
            self.asking.release();
        }
    }
}

impl<A> std::fmt::Debug for Interrupt<'_, A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut f = f.debug_struct("Interrupt");
        f.field("id", &self.asking.id).field("open", &self.open).finish_non_exhaustive()
    }
}

/// A problem with a question or its answer.
#[derive(Debug, thiserror::Error)]
enum AskError {
    #[error(
        "question `{name}` is asked inside a durable step, which cannot be suspended: ask it before or after the step"
    )]
    InStep { name: &'static str },
    #[error("two questions `{name}` have the key `{key}`: give each its own")]
    KeyTwice { name: &'static str, key: String },
    #[error(
        "question `{name}` has an id of {length} bytes, but at most {MAX_KEY_BYTES} can be stored: ask it with a shorter key"
    )]
    LongId { name: &'static str, length: usize },
    #[error("question `{name}` {reason}")]
    Unstorable { name: &'static str, reason: String },
    #[error(
        "the stored answer to question `{name}` (`{id}`) cannot be used by this version of the program: {reason}; the answer \
         stays stored for a version that can"
    )]
    Outdated { name: &'static str, id: String, reason: MigrationError },
    #[error("the answer to question `{name}` (`{id}`) cannot be read: {reason}; the question is open again")]
    Answer { name: &'static str, id: String, reason: String },
}

/// Returns `true` if the task failed only because an answer could not be read. It waits for another answer then.
pub(in crate::engine) fn waits_again(failure: &NodeFailure) -> bool {
    if failure.handled.is_some() {
        return false;
    }
    match failure.error.downcast_ref::<AskError>() {
        Some(error) => matches!(error, AskError::Answer { .. }),
        // The failure of a subgraph call.
        None => failure.error.downcast_ref::<Error>().is_some_and(|error| wait_again(error.kind())),
    }
}

/// Returns `true` if a superstep failed only because answers could not be read.
pub(in crate::engine) fn wait_again(error: &ErrorKind) -> bool {
    match error {
        ErrorKind::Node { first, others } => std::iter::once(first).chain(others).all(waits_again),
        _ => false,
    }
}
