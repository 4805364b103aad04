use std::future::Future;
use std::pin::Pin;
use std::task::{Poll, Waker};

use crate::engine::context::context::Context;
use crate::interrupt::{CheckpointValue as _, Question, QuestionTypeOf as _};

use super::asking::{Asked, Asking};
use super::sleep::{Sleep, Wake};

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
        match by.ask(&|| self.__to_json(), waker) {
            Asked::Answer((question, answer)) => match Q::Answer::__from_json(answer) {
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

    /// Creates the timer of the question's deadline, and returns its id.
    pub(crate) fn deadline(&self, wake: Wake) -> (String, Sleep<'c>) {
        self.asking.deadline(wake)
    }

    /// Notes the time of the timer in the open question.
    pub(crate) fn expires(&self, deadline: &str) {
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
