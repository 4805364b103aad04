use std::future::Future;
use std::pin::Pin;
use std::task::Poll;

use serde_json::Value;

use crate::engine::Context;
use crate::interrupt::{OpenInterrupt, Question};
use crate::limits::MAX_KEY_BYTES;
use crate::payload::{from_json, to_json};

use super::ids::{self, Which};
use super::memo::Answered;

/// A question to a person; created by [`Context::interrupt`]. Its output is the answer.
///
/// The interrupt is open from the first poll without an answer until the future is dropped.
// Generic over the answer only: rustc then reports a problem with a question once, where it is asked.
#[must_use = "a question is asked when the interrupt is awaited"]
pub struct Interrupt<'c, A> {
    asking: Box<dyn Ask<A> + 'c>,
    /// `true` while it waits for an answer.
    open: bool,
}

/// A question of any type whose answer is an `A`.
trait Ask<A>: Send + Sync {
    /// Returns the answer; without one the interrupt is open.
    fn ask(&self) -> Option<A>;
    /// Closes the interrupt without an answer.
    fn withdraw(&self);
    /// Identifies the question by a key instead of its number.
    fn set_key(&mut self, key: &str);
    fn id(&self) -> &str;
}

struct Asking<'c, Q> {
    cx: &'c Context,
    question: Q,
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
    /// # Cancel safety
    /// Dropping the future withdraws the question. If the question is asked again, it returns the answer that it got.
    pub fn interrupt<Q: Question>(&self, question: Q) -> Interrupt<'_, Q::Answer> {
        let desk = self.desk();
        let nth = desk.take_number(Q::name());
        let id = ids::question(&desk.task, Q::name(), Which::Nth(nth));
        Interrupt::new(Asking { cx: self, question, nth, key: None, id, place: desk.place() })
    }
}

impl<Q: Question> Ask<Q::Answer> for Asking<'_, Q> {
    // Any problem with the question or its answer fails the attempt.
    fn ask(&self) -> Option<Q::Answer> {
        let desk = self.cx.desk();
        if desk.is_in_step() {
            desk.fail(AskError::InStep { name: Q::name() }.into());
            return None;
        }
        if self.id.len() > MAX_KEY_BYTES {
            desk.fail(AskError::LongId { name: Q::name(), length: self.id.len() }.into());
            return None;
        }
        let question = match to_json(&self.question) {
            Ok(question) => question,
            Err(unstorable) => {
                let reason = unstorable.to_string();
                desk.fail(AskError::Unstorable { name: Q::name(), reason }.into());
                return None;
            }
        };
        let answer = self.cx.answer_to(&self.id, &question).or_else(|| self.cx.scripted(Q::name()));
        let Some(answer) = answer else {
            desk.open(self.place, self.to_open(question));
            return None;
        };
        match from_json(answer) {
            Ok(answer) => Some(answer),
            Err(error) => {
                let reason = error.to_string();
                self.cx.memo(|memo| memo.answers.remove(&self.id));
                desk.reopen(self.to_open(question));
                desk.fail(AskError::Answer { name: Q::name(), id: self.id.clone(), reason }.into());
                None
            }
        }
    }

    fn withdraw(&self) {
        self.cx.desk().withdraw(self.place);
    }

    fn set_key(&mut self, key: &str) {
        let desk = self.cx.desk();
        match self.key {
            None => desk.release_number(Q::name(), self.nth),
            Some(_) => desk.release_key(&self.id),
        }
        self.id = ids::question(&desk.task, Q::name(), Which::Key(key));
        if !desk.key(&self.id) {
            desk.fail(AskError::KeyTwice { name: Q::name(), key: key.to_owned() }.into());
        }
        self.key = Some(key.to_owned());
    }

    fn id(&self) -> &str {
        &self.id
    }
}

impl<Q: Question> Asking<'_, Q> {
    fn to_open(&self, question: Value) -> OpenInterrupt {
        OpenInterrupt {
            id: self.id.clone(),
            node: self.cx.node().to_owned(),
            task: self.cx.at.task,
            name: Q::name().to_owned(),
            key: self.key.clone(),
            question,
            namespace: Vec::new(),
        }
    }
}

impl Context {
    /// Returns the stored answer, if it answers the question as it is asked now.
    fn answer_to(&self, id: &str, question: &Value) -> Option<Value> {
        let to_this = |answered: &Answered| (answered.question == *question).then(|| answered.answer.clone());
        let own = self.memo(|memo| memo.answers.get(id).and_then(to_this));
        // The answer may have arrived through the parent run, whose subgraph call begins again.
        own.or_else(|| self.shared.nest.answers.get(id).and_then(to_this))
    }
}

impl<'c, A> Interrupt<'c, A> {
    fn new(asking: impl Ask<A> + 'c) -> Self {
        Self { asking: Box::new(asking), open: false }
    }

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
    /// Two questions of one type with the same key in one attempt fail the task. A second key replaces the first.
    pub fn keyed(mut self, key: impl AsRef<str>) -> Self {
        // After a poll, the question is open under its old id.
        if std::mem::take(&mut self.open) {
            self.asking.withdraw();
        }
        self.asking.set_key(key.as_ref());
        self
    }
}

impl<A> Future for Interrupt<'_, A> {
    type Output = A;

    fn poll(mut self: Pin<&mut Self>, _: &mut std::task::Context<'_>) -> Poll<A> {
        // An answer never arrives during an attempt: the task is suspended, and runs again with the answer.
        if self.open {
            return Poll::Pending;
        }
        match self.asking.ask() {
            Some(answer) => Poll::Ready(answer),
            None => {
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
    }
}

impl<A> std::fmt::Debug for Interrupt<'_, A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut f = f.debug_struct("Interrupt");
        f.field("id", &self.asking.id()).field("open", &self.open).finish_non_exhaustive()
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
    #[error("the answer to question `{name}` (`{id}`) cannot be read: {reason}; the question is open again")]
    Answer { name: &'static str, id: String, reason: String },
}
