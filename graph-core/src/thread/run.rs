use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use crate::checkpoint::CheckpointId;
use crate::erased::{ErasedInput, InputOf, TaskWrites, WritesOf};
use crate::error::Error;
use crate::interrupt::Answer;
use crate::options::Durability;
use crate::run::{ErasedTarget, Run, Stepper, Target, start_on_thread};
use crate::state::{GraphState, IntoUpdate};

use super::OnConflict;
use super::erased::{ErasedThread, Expected, OnErasedThread, Resume};
use super::goto::{Goto, IntoGoto};
use super::thread_run::{How, ThreadRun};

/// The target of a run on a thread; a type parameter of [`Run`].
pub struct OnThread<S: GraphState, K> {
    pub(crate) thread: ErasedThread,
    pub(crate) at: Option<CheckpointId>,
    pub(crate) run_id: Option<Arc<str>>,
    pub(crate) on_conflict: OnConflict,
    pub(crate) expected: Expected,
    pub(crate) how: K,
    pub(crate) state: PhantomData<fn(S)>,
}

/// A run that starts with an input; see [`Thread::run`](super::Thread::run).
pub struct WithInput<S: GraphState> {
    pub(crate) input: Box<dyn ErasedInput>,
    pub(crate) abandon_pending: bool,
    pub(crate) state: PhantomData<fn(S)>,
}

/// A run that continues from the thread's head; see [`Thread::resume`](super::Thread::resume).
pub struct Resuming<S: GraphState> {
    pub(crate) answers: Vec<Answer>,
    pub(crate) update: Option<TaskWrites>,
    pub(crate) goto: Vec<Goto>,
    pub(crate) idempotency_key: Option<Arc<str>>,
    pub(crate) state: PhantomData<fn(S)>,
}

/// A run that repeats the superstep planned at a checkpoint; see [`ThreadAt::run_again`](super::ThreadAt::run_again).
pub struct RunAgain<S: GraphState> {
    pub(crate) update: Option<TaskWrites>,
    /// The checkpoint of a subgraph call to continue from, and the namespaces that may contain it.
    pub(crate) enter: Option<(Vec<Arc<str>>, CheckpointId)>,
    pub(crate) state: PhantomData<fn(S)>,
}

impl<S: GraphState> WithInput<S> {
    pub(crate) fn new(input: S::Input) -> Self {
        Self { input: Box::new(InputOf::<S>(input)), abandon_pending: false, state: PhantomData }
    }
}

impl<S: GraphState> Resuming<S> {
    pub(crate) fn new(answers: Vec<Answer>) -> Self {
        Self { answers, update: None, goto: Vec::new(), idempotency_key: None, state: PhantomData }
    }
}

impl<S: GraphState> RunAgain<S> {
    pub(crate) fn new() -> Self {
        Self { update: None, enter: None, state: PhantomData }
    }

    pub(crate) fn from_call(namespaces: Vec<Arc<str>>, checkpoint: CheckpointId) -> Self {
        Self { update: None, enter: Some((namespaces, checkpoint)), state: PhantomData }
    }
}

/// The answers that resume a thread: one, several, or none (`()`).
#[diagnostic::on_unimplemented(
    message = "a thread cannot be resumed with this",
    label = "expected an answer, a list of answers, or `()`",
    note = "`question.answer(..)` creates an answer to a question from `thread.interrupts()`"
)]
pub trait IntoAnswers {
    /// Converts the value to a list of answers.
    fn into_answers(self) -> Vec<Answer>;
}

#[diagnostic::do_not_recommend]
impl IntoAnswers for () {
    fn into_answers(self) -> Vec<Answer> {
        Vec::new()
    }
}

#[diagnostic::do_not_recommend]
impl IntoAnswers for Answer {
    fn into_answers(self) -> Vec<Answer> {
        vec![self]
    }
}

#[diagnostic::do_not_recommend]
impl IntoAnswers for Vec<Answer> {
    fn into_answers(self) -> Vec<Answer> {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<const N: usize> IntoAnswers for [Answer; N] {
    fn into_answers(self) -> Vec<Answer> {
        self.into()
    }
}

impl<S: GraphState, K> OnThread<S, K> {
    pub(crate) fn new(thread: ErasedThread, at: Option<CheckpointId>, how: K) -> Self {
        let (on_conflict, expected) = (OnConflict::Reject, Expected::default());
        Self { thread, at, run_id: None, on_conflict, expected, how, state: PhantomData }
    }

    fn erase_with(self, how: impl FnOnce(K) -> How) -> Box<dyn ErasedTarget> {
        let Self { thread, at, run_id, on_conflict, expected, how: given, .. } = self;
        let on = OnErasedThread { thread, at, run_id, on_conflict, expected };
        Box::new(ThreadRun { on, how: how(given) })
    }
}

impl<S: GraphState> Target<S> for OnThread<S, WithInput<S>> {
    fn erase(self) -> Box<dyn ErasedTarget> {
        self.erase_with(|WithInput { input, abandon_pending, .. }| How::Input { input, abandon_pending })
    }
}

impl<S: GraphState> Target<S> for OnThread<S, Resuming<S>> {
    fn erase(self) -> Box<dyn ErasedTarget> {
        self.erase_with(|Resuming { answers, update, goto, idempotency_key, .. }| {
            How::Resume(Resume { answers, update, goto, idempotency_key })
        })
    }
}

impl<S: GraphState> Target<S> for OnThread<S, RunAgain<S>> {
    fn erase(self) -> Box<dyn ErasedTarget> {
        self.erase_with(|RunAgain { update, enter, .. }| How::Replay { update, enter })
    }
}

impl<S: GraphState, D: Send + Sync + 'static, C, K> Run<S, D, C, OnThread<S, K>> {
    /// Sets when the run waits for the checkpointer. The default is [`Durability::Async`].
    pub fn durability(self, durability: Durability) -> Self {
        self.set(|plan| plan.settings.options.durability = durability)
    }

    /// Ends the run when all remaining tasks of a superstep [sleep](crate::Context::sleep) for longer than `limit`.
    ///
    /// By default the run waits for them, however long. The outcome is [`Interrupted`](crate::Outcome::Interrupted), and
    /// [`Pause::wakes_at`](crate::interrupt::Pause::wakes_at) returns the time to resume.
    ///
    /// A suspended node runs again from its top. A node is not suspended during one of its durable steps.
    pub fn suspend_sleeps_longer_than(self, limit: Duration) -> Self {
        self.set(|plan| plan.settings.options.longest_sleep = Some(limit))
    }

    /// Sets the behavior if the thread has pending tasks or another writer. The default is [`OnConflict::Reject`].
    pub fn on_conflict(self, on_conflict: OnConflict) -> Self {
        self.set(|plan| plan.target.on_conflict = on_conflict)
    }

    /// Runs only if the thread has this [epoch](super::Snapshot::epoch): no run or update has taken the thread over since the
    /// epoch was read. A thread that does not exist has the epoch 0.
    ///
    /// Otherwise the run fails with [`Conflict`](crate::ErrorKind::Conflict) before it changes anything, and the run that has
    /// taken over is not disturbed. So a request that is delivered late, or a second time, cannot stop the run that replaced
    /// it. A run whose [id](Self::run_id) has an outcome already returns it, whatever the epoch is.
    ///
    /// ```
    /// # use superstep::checkpoint::MemoryCheckpointer;
    /// # use superstep::{END, ErrorKind, GraphState, START, StateGraph};
    /// # #[derive(GraphState, Clone)]
    /// # struct Job { #[state(input)] text: String }
    /// # async fn work(_: &Job) {}
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> superstep::Result<()> {
    /// # let graph = StateGraph::<Job>::new().edge(START, work).edge(work, END).compile()?;
    /// # let thread = graph.with_checkpointer(MemoryCheckpointer::new()).thread("job-1");
    /// thread.run(Job::input("first")).if_epoch(0).await?;
    /// let epoch = thread.state().await?.expect("a checkpoint").epoch;
    /// thread.run(Job::input("second")).if_epoch(epoch).await?;
    ///
    /// let late = thread.run(Job::input("third")).if_epoch(epoch).await.unwrap_err();
    /// assert!(matches!(late.kind(), ErrorKind::Conflict(_)));
    /// # Ok(())
    /// # }
    /// ```
    pub fn if_epoch(self, epoch: u64) -> Self {
        self.set(|plan| plan.target.expected.epoch = Some(epoch))
    }
}

impl<S: GraphState, D: Send + Sync + 'static, C> Run<S, D, C, OnThread<S, WithInput<S>>> {
    /// Sets the run's id, so that the run can be started again safely: its input is applied at most once.
    ///
    /// If the thread already has a run with this id, the call returns the result of that run. The input is not compared:
    /// another input with the same id is ignored.
    ///
    /// | the run | started again with the same id |
    /// |---|---|
    /// | has finished | returns its outcome |
    /// | ended with [`JoinNotFilled`](crate::ErrorKind::JoinNotFilled) | fails with it again |
    /// | waits for answers or has stopped at a breakpoint | returns the same pause, and does not pass the breakpoint |
    /// | failed, crashed, or reached its recursion limit | continues |
    /// | was replaced by another run or update | fails with [`RunAbandoned`](crate::ErrorKind::RunAbandoned) |
    ///
    /// With [`OnConflict::Wait`], a repeated start first waits for a process that may still execute the run. It does not wait
    /// if the run was dropped in this process, by this [`PersistentGraph`](crate::thread::PersistentGraph) or a clone of it.
    ///
    /// A resumption belongs to the run that it continues, and so does an update of an unfinished run. Their effects are part
    /// of the result. An id is known as long as the thread has a checkpoint of its run.
    pub fn run_id(self, id: impl AsRef<str>) -> Self {
        self.set(|plan| plan.target.run_id = Some(id.as_ref().into()))
    }

    /// Discards the pending tasks of the thread, with their open questions and the results of finished siblings.
    ///
    /// The discarded tasks stay in the history. If another run is still executing them, the new run takes over the thread,
    /// and the other run fails with [`Conflict`](crate::ErrorKind::Conflict). This also applies under
    /// [`OnConflict::Wait`], because a slow run cannot be distinguished from a crashed one. To keep the writes of finished
    /// tasks, commit them first: `thread.update(Ticket::update(), as_node(END))`.
    pub fn abandon_pending(self) -> Self {
        self.set(|plan| plan.target.how.abandon_pending = true)
    }
}

impl<S: GraphState, D: Send + Sync + 'static, C> Run<S, D, C, OnThread<S, Resuming<S>>> {
    /// Updates the state before the tasks run, through reducers and validation rules.
    ///
    /// The update is stored with the thread's head, in the same write as the answers. From then on it belongs to the state of
    /// that checkpoint, for every later read, resumption and branch. The planned tasks stay planned. The update is kept even
    /// if the run stops before the superstep is applied, or if the pending tasks are discarded later.
    ///
    /// If the thread has nothing left to run and [`goto`](Self::goto) adds no node, awaiting the run fails with
    /// [`NothingToRun`](crate::ErrorKind::NothingToRun). Write to such a thread with [`Thread::update`](super::Thread::update).
    pub fn update(self, update: impl IntoUpdate<S>) -> Self {
        self.set(|plan| plan.target.how.update = Some(WritesOf::<S>::erase(update.into_update())))
    }

    /// Sets the key of this request, so that it can be sent again safely: its answers, its update and its added nodes are
    /// applied at most once.
    ///
    /// If the thread has accepted a request with this key, the call applies nothing and returns the result of the run that
    /// the request has continued, as a run that is started again by its [`run_id`](Run::run_id): its outcome or its pause, or
    /// the run continues if it failed or crashed. This holds in every process and after other runs. With
    /// [`OnConflict::Wait`], the call first waits for a process that may still execute the run.
    ///
    /// The key is stored in the same write as the answers. It is known as long as the thread has the checkpoint at which the
    /// request was accepted. Keys are not run ids: a key may be equal to the id of a run.
    ///
    /// ```
    /// # use superstep::checkpoint::MemoryCheckpointer;
    /// # use superstep::{Context, END, ErrorKind, GraphState, Outcome, START, StateGraph, interrupt::Question};
    /// # use serde::{Deserialize, Serialize};
    /// # #[derive(Serialize, Deserialize)]
    /// # struct Approve;
    /// # impl Question for Approve { type Answer = bool; }
    /// # #[derive(GraphState, Clone)]
    /// # struct Order { bought: bool }
    /// # async fn buy(_: &Order, cx: &Context) -> OrderUpdate { Order::update().bought(cx.interrupt(Approve).await) }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> superstep::Result<()> {
    /// # let graph = StateGraph::<Order>::new().edge(START, buy).edge(buy, END).compile()?;
    /// # let thread = graph.with_checkpointer(MemoryCheckpointer::default()).thread("17");
    /// # let outcome = thread.run(Order::input()).await?;
    /// # let question = outcome.pause().expect("it asks").only::<Approve>()?;
    /// let first = thread.resume(question.answer(true)).idempotency_key("click-1").await?;
    /// // The response was lost, and the client sends its request again.
    /// let again = thread.resume(question.answer(true)).idempotency_key("click-1").await?;
    /// assert_eq!(first.into_state().bought, again.into_state().bought);
    ///
    /// let other = thread.resume(question.answer(false)).idempotency_key("click-1").await.unwrap_err();
    /// assert!(matches!(other.kind(), ErrorKind::IdempotencyKeyReused { .. }));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Awaiting the run fails with [`IdempotencyKeyReused`](crate::ErrorKind::IdempotencyKeyReused) if the thread has
    /// accepted another request with this key, and with [`RunAbandoned`](crate::ErrorKind::RunAbandoned) if another run or
    /// update took the place of the continued run. A request that was refused has not used its key.
    pub fn idempotency_key(self, key: impl AsRef<str>) -> Self {
        self.set(|plan| plan.target.how.idempotency_key = Some(key.as_ref().into()))
    }

    /// Runs this node in addition to the planned tasks.
    ///
    /// The argument is [`as_node(node)`](super::as_node), a route whose nodes run ([`send`](super::send)), or a
    /// [`Goto`] from a name and JSON. The added task is stored with the thread's head, in the same write as the answers,
    /// and is one of its planned tasks from then on, with its packet.
    ///
    /// Awaiting the run fails with [`InvalidGoto`](crate::ErrorKind::InvalidGoto) if the graph has no such node, or if the
    /// node and the packet do not fit. Then nothing is written.
    pub fn goto(self, goto: impl IntoGoto) -> Self {
        self.set(|plan| plan.target.how.goto.push(goto.into_goto()))
    }
}

impl<S: GraphState, D: Send + Sync + 'static, C> Run<S, D, C, OnThread<S, RunAgain<S>>> {
    /// Updates the state on which the tasks run, through reducers and validation rules. The planned tasks stay planned.
    ///
    /// The update is stored in the first checkpoint of the new branch. If an input waits there, the update is applied after
    /// the input. At a final checkpoint, awaiting the run fails with
    /// [`NothingToRun`](crate::ErrorKind::NothingToRun).
    pub fn update(self, update: impl IntoUpdate<S>) -> Self {
        self.set(|plan| plan.target.how.update = Some(WritesOf::<S>::erase(update.into_update())))
    }
}

impl<S, D, C, K> Run<S, D, C, OnThread<S, K>>
where
    S: GraphState,
    D: Send + Sync + 'static,
    // Here and not on the method, whose future would repeat the error.
    C: crate::run::ContextGiven<D>,
    OnThread<S, K>: Target<S>,
{
    /// Starts the run and returns a [`Stepper`] to execute it superstep by superstep.
    ///
    /// Returns `None` if there is nothing to run, for example if a run that is started again by its id has finished or waits
    /// for answers.
    ///
    /// # Errors
    /// The errors that refuse the run before its first superstep; see [`Thread::run`](super::Thread::run) and [`Thread::resume`](super::Thread::resume).
    ///
    /// # Cancel safety
    /// A dropped call has started the run, or has written nothing. [`resume`](super::Thread::resume) continues a run that was
    /// started. A run with a [`run_id`](Run::run_id) can be started again in both cases.
    ///
    /// # Durability
    /// The start of the run is durable when the call returns, as far as its [`Durability`] mode stores it.
    pub async fn start(self) -> Result<Option<Stepper<S, D>>, Error> {
        let (target, opening) = self.opening()?;
        start_on_thread(target.erase(), opening).await?.map(Stepper::new).transpose()
    }
}
