use std::sync::Arc;
use std::time::Duration;

use crate::checkpoint::CheckpointId;
use crate::engine::Durability;
use crate::error::Error;
use crate::interrupt::Answer;
use crate::run::{About, Opened, Run, Stepper, Target};
use crate::state::{GraphState, IntoUpdate};

use super::{AsNode, Thread};

/// What a run on a thread is about.
pub struct OnThread<S: GraphState, D, K> {
    pub(super) thread: Thread<S, D>,
    pub(super) at: Option<CheckpointId>,
    pub(super) run_id: Option<Arc<str>>,
    pub(super) on_conflict: OnConflict,
    pub(super) how: K,
}

/// A run that begins with an input.
pub struct WithInput<S: GraphState> {
    pub(super) input: S::Input,
    pub(super) abandon_pending: bool,
}

/// A run that goes on where the thread is.
pub struct Resuming<S: GraphState> {
    pub(super) answers: Vec<Answer>,
    pub(super) update: Option<S::Update>,
    pub(super) goto: Vec<AsNode>,
}

/// A run that runs again what was planned at a checkpoint.
pub struct Again<S: GraphState> {
    pub(super) update: Option<S::Update>,
    /// The checkpoint of a call that it goes on from, within the checkpoint that has planned the call's task; and where it may
    /// be stored.
    pub(super) enter: Option<(Vec<Arc<str>>, CheckpointId)>,
}

/// What a run does when something else is under way on its thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnConflict {
    /// It fails: with [`Pending`](crate::ErrorKind::PendingTasks) or [`Conflict`](crate::ErrorKind::Conflict).
    #[default]
    Reject,
    /// It waits for the thread to come to rest, for so long at most, and fails then as above. Needs tokio's timer.
    ///
    /// Of several that wait each has its turn, in no order that could be told before. From its beginning on a run that
    /// waited is seen by others: also where [`Durability::Exit`] stores nothing else before the end, its first checkpoint
    /// is stored. A resumption takes its thread over at once; it waits where others do so at the same moment.
    Wait(Duration),
}

impl<S: GraphState> WithInput<S> {
    pub(super) fn new(input: S::Input) -> Self {
        Self { input, abandon_pending: false }
    }
}

impl<S: GraphState> Resuming<S> {
    pub(super) fn new(answers: Vec<Answer>) -> Self {
        Self { answers, update: None, goto: Vec::new() }
    }
}

impl<S: GraphState> Again<S> {
    pub(super) fn new() -> Self {
        Self { update: None, enter: None }
    }

    pub(super) fn within(namespaces: Vec<Arc<str>>, checkpoint: CheckpointId) -> Self {
        Self { update: None, enter: Some((namespaces, checkpoint)) }
    }
}

/// Answers to resume a thread with: one, several, or none (`()`).
#[diagnostic::on_unimplemented(
    message = "a thread cannot be resumed with this",
    label = "is neither an answer, nor a list of answers, nor `()`",
    note = "`question.answer(..)` makes an answer to a question of `thread.interrupts()`"
)]
pub trait IntoAnswers {
    /// The answers.
    fn into_answers(self) -> Vec<Answer>;
}

impl IntoAnswers for () {
    fn into_answers(self) -> Vec<Answer> {
        Vec::new()
    }
}

impl IntoAnswers for Answer {
    fn into_answers(self) -> Vec<Answer> {
        vec![self]
    }
}

impl IntoAnswers for Vec<Answer> {
    fn into_answers(self) -> Vec<Answer> {
        self
    }
}

impl<const N: usize> IntoAnswers for [Answer; N] {
    fn into_answers(self) -> Vec<Answer> {
        self.into()
    }
}

impl<S: GraphState, D, K> OnThread<S, D, K> {
    pub(super) fn new(thread: Thread<S, D>, at: Option<CheckpointId>, how: K) -> Self {
        Self { thread, at, run_id: None, on_conflict: OnConflict::Reject, how }
    }

    pub(super) fn begins_with(&self, begin: &'static str) -> About<'_> {
        About { begin, thread: Some(&self.thread.name), run_id: self.run_id.as_deref() }
    }
}

impl<S: GraphState, D: Send + Sync + 'static, C, K> Run<S, D, C, OnThread<S, D, K>> {
    /// When the run waits for its store; [`Durability::Async`] if it is not said.
    pub fn durability(mut self, durability: Durability) -> Self {
        self.options.durability = durability;
        self
    }

    /// Lets the run end where nothing is left of its superstep but tasks that [sleep](crate::Context::sleep) for longer than this,
    /// instead of waiting for them; if it is not said, it waits, however long. The outcome is
    /// [`Interrupted`](crate::Outcome::Interrupted), whose pause says [when](crate::interrupt::Pause::wakes_at) to resume.
    ///
    /// A node that is suspended runs again from its top. It is not suspended while a durable step of its is under way.
    pub fn suspend_sleeps_longer_than(mut self, limit: Duration) -> Self {
        self.options.longest_sleep = Some(limit);
        self
    }

    /// What it does when something else is under way on the thread.
    pub fn on_conflict(mut self, on_conflict: OnConflict) -> Self {
        self.target.on_conflict = on_conflict;
        self
    }
}

impl<S: GraphState, D: Send + Sync + 'static, C> Run<S, D, C, OnThread<S, D, WithInput<S>>> {
    /// The run's id, to be able to start it again: a run of this id that the thread has had already is not begun anew, and
    /// its input is applied once.
    ///
    /// What has become of it is given back: its outcome, also if that was [`JoinNotFilled`](crate::ErrorKind::JoinNotFilled),
    /// or where it has stopped, without passing any breakpoint. After a crash or a failure, and at its recursion limit, it
    /// goes on; with [`OnConflict::Wait`] it first waits so long for whoever may be at it, which is nobody if it was dropped
    /// here, by this [`PersistentGraph`](crate::thread::PersistentGraph) or a clone of it. If something else was begun in its
    /// place it is [`GivenUp`](crate::ErrorKind::RunAbandoned).
    ///
    /// A resumption belongs to the run that it goes on with, and so does an update of a run that is not complete: whoever
    /// starts the run again gets what it has come to with them. An id is known for as long as a checkpoint of its run is.
    pub fn run_id(mut self, id: impl AsRef<str>) -> Self {
        self.target.run_id = Some(id.as_ref().into());
        self
    }

    /// Gives up what is left to run on the thread, open questions and finished tasks of an incomplete superstep included.
    /// It stays in the history.
    ///
    /// A run that is still under way is overtaken, with a `Conflict` for it, whatever
    /// [`OnConflict`](crate::thread::OnConflict) says: nobody can tell it from one that has crashed. To keep what the finished
    /// tasks have written, write it first: `thread.update(Ticket::update(), as_node(END))`.
    pub fn abandon_pending(mut self) -> Self {
        self.target.how.abandon_pending = true;
        self
    }
}

impl<S: GraphState, D: Send + Sync + 'static, C> Run<S, D, C, OnThread<S, D, Resuming<S>>> {
    /// Writes to the state before the tasks run, through reducers and rules, as an input does.
    ///
    /// It is stored with the checkpoint that the thread is at, in the same write as the answers, and belongs to its state
    /// from then on: for whoever reads it, goes on from it or makes a branch of it. What was planned stays planned, and
    /// where the run stops before its superstep has ended, the update is there all the same. Giving up what is left to run
    /// does not give the update up.
    ///
    /// Where nothing is left to run, and no [`goto`](Self::goto) says what shall, the run is refused with
    /// [`AtRest`](crate::ErrorKind::NothingToRun): [`Thread::update`] is what writes to such a thread.
    pub fn update(mut self, update: impl IntoUpdate<S>) -> Self {
        self.target.how.update = Some(update.into_update());
        self
    }

    /// Runs this node besides what is planned.
    pub fn goto(mut self, node: AsNode) -> Self {
        self.target.how.goto.push(node);
        self
    }
}

impl<S: GraphState, D: Send + Sync + 'static, C> Run<S, D, C, OnThread<S, D, Again<S>>> {
    /// Changes the state that it runs on, through reducers and rules, as an input does. What was planned stays planned.
    ///
    /// It is stored in the checkpoint that the branch begins with; where an input waits, it is written behind the input.
    /// At a final checkpoint, the run is refused with [`AtRest`](crate::ErrorKind::NothingToRun).
    pub fn update(mut self, update: impl IntoUpdate<S>) -> Self {
        self.target.how.update = Some(update.into_update());
        self
    }
}

impl<S, D, C, K> Run<S, D, C, OnThread<S, D, K>>
where
    S: GraphState,
    D: Send + Sync + 'static,
    C: crate::run::ContextGiven<D>,
    OnThread<S, D, K>: Target<S, D>,
{
    /// Begins the run, and leaves it to the caller to run superstep by superstep; `None` when there is nothing to run, as
    /// where a run that is started again by its id has ended or waits for answers.
    ///
    /// # Errors
    /// What the run would be refused with.
    ///
    /// # Cancel safety
    /// A dropped call has begun the run or not; [`resume`](Thread::resume) finds out.
    pub async fn start(self) -> Result<Option<Stepper<S, D>>, Error> {
        let (target, mut opening) = self.opening(None);
        let spans = opening.trace(&target);
        let opened = async {
            opening.not_cancelled()?;
            target.open(opening).await
        };
        let opened = spans.around(opened).await;
        spans.begun(&opened);
        Ok(match opened? {
            Opened::Begun(begun) => Some(Stepper::new(begun.into_driver())),
            Opened::Ended(_, outcome) => {
                spans.ended(&Ok((0, outcome)));
                None
            }
        })
    }
}
