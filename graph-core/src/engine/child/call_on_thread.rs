//! Subgraph calls on the parent run's thread, each in its own namespace.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;

use crate::checkpoint::{CheckpointError, CheckpointId, CheckpointSource, StoredCheckpoint};
use crate::engine::apply::{CallWrites, Ephemerals};
use crate::engine::child::{Call, CallPlace, CallStart, StartedCall};
use crate::engine::context::{Context, RunShared, StepLog};
use crate::engine::graph::CallStorage;
use crate::engine::journal::{Journal, ParentPersistence, ParentTask};
use crate::engine::persist::{Persist, RetainedCheckpoint};
use crate::engine::restore::{RestoredCheckpoint, earlier_call, open, open_onto, open_state};
use crate::engine::run::{Driver, run_record};
use crate::engine::start::{Parts, Resumption, RunStart, initial_state, input_not_storable};
use crate::engine::stored::{FieldChanges, GivenAnswer, Program, Resets, parent_task, place};
use crate::erased::ErasedState;
use crate::error::{Error, ErrorKind, NodeError};
use crate::interrupt::AnswerJson;
use crate::options::Durability;

/// Begins a subgraph call on the parent run's thread, or continues it from there.
///
/// The future is boxed because it is large and awaited once per call.
pub(crate) fn call_on_thread<'c>(
    call: &'c Call<'c>,
    place: &'c CallPlace,
    cx: &'c Context,
    parent_persistence: &'c ParentPersistence,
) -> StartingCall<'c> {
    Box::pin(async move {
        let mut opener =
            CallOpener { call, place, namespace: Arc::clone(&place.namespace), cx, parent_persistence };
        opener.find().await?;
        let lock = parent_persistence.lock(&opener.namespace)?;
        if matches!(call.storage, CallStorage::Thread(_)) {
            // The checkpoints that planned the earlier call and this one decide whether both are on the same branch,
            // so they have to be durable.
            StepLog::flush(&*parent_persistence.shared).await?;
        }
        let begun = opener.open().await?;
        if let Some(persist) = &begun.driver.persist {
            Journal::begins(&persist.journal);
        }
        Ok(StartedCall { lock: Some(lock), ..begun })
    })
}

/// A subgraph call that is being started.
type StartingCall<'c> = Pin<Box<dyn Future<Output = Result<StartedCall, NodeError>> + Send + 'c>>;

/// Opens a subgraph call on the thread: begins it, continues it or replays it.
struct CallOpener<'c> {
    call: &'c Call<'c>,
    place: &'c CallPlace,
    /// The namespace of the call.
    namespace: Arc<str>,
    cx: &'c Context,
    parent_persistence: &'c ParentPersistence,
}

impl CallOpener<'_> {
    /// Finds the namespace of the call. It may be that of a former name of the node, which stays in use.
    async fn find(&mut self) -> Result<(), Error> {
        let shared = &self.parent_persistence.shared;
        for namespace in [&self.place.namespace].into_iter().chain(&self.place.before) {
            if self.place.before.is_empty() {
                return Ok(());
            }
            let loaded = shared.store().get(shared.thread(), namespace, None).await;
            if loaded.map_err(|error| self.store(error))?.found.is_some() {
                self.namespace = Arc::clone(namespace);
                return Ok(());
            }
        }
        Ok(())
    }

    async fn open(&self) -> Result<StartedCall, Error> {
        let shared = &self.parent_persistence.shared;
        let (store, thread) = (shared.store(), shared.thread());
        let Some(checkpoint) = shared.at() else { return Err(self.refuse(NOT_PLANNED)) };
        let planned_at = shared.kept_from().unwrap_or(checkpoint);
        let here = ParentTask::at(planned_at, Some(self.cx.task()));
        let here = here.running_at(checkpoint).inside(shared.thread_task());
        let loaded = store.get(thread, &self.namespace, None).await.map_err(|error| self.store(error))?;
        let head = loaded.fence.head;
        let stored_task = |stored: &StoredCheckpoint| {
            parent_task(thread, &stored.checkpoint).map_err(|kind| self.refuse(kind))
        };
        let head_task = loaded.found.as_ref().map(stored_task).transpose()?.flatten();
        let is_of_this_task = head_task.as_ref().is_some_and(|head_task| head_task.is_same_task(&here));
        let enter = self.cx.shared.parent_run.enter(checkpoint, &self.namespace);
        match (loaded.found, enter) {
            (Some(stored), _) if is_of_this_task => {
                let begun = head_task.and_then(|head_task| head_task.begun);
                self.resumption(stored, head, ParentTask { begun, ..here }).await
            }
            (_, Some((id, inside))) => {
                let loaded = store.get(thread, &self.namespace, Some(id)).await;
                match loaded.map_err(|error| self.store(error))?.found {
                    Some(stored) => {
                        let begun = stored_task(&stored)?.and_then(|stored_task| stored_task.begun);
                        self.replay(stored, head, ParentTask { begun, ..here }, inside).await
                    }
                    None => Err(self.gone(Some(id))),
                }
            }
            _ => {
                let from = match &self.call.storage {
                    CallStorage::Thread(_) => {
                        earlier_call(&**store, thread, &self.namespace, &shared.path(), checkpoint)
                            .await
                            .map_err(|kind| self.refuse(kind))?
                    }
                    CallStorage::Call | CallStorage::Nothing => None,
                };
                self.begin(from, head, here)
            }
        }
    }

    /// Begins a new call.
    fn begin(
        &self,
        from: Option<StoredCheckpoint>,
        head: Option<CheckpointId>,
        parent_task: ParentTask,
    ) -> Result<StartedCall, Error> {
        let (mut persist, shared) = self.writer(head, parent_task);
        match &self.call.start {
            CallStart::OnParentState(state) => {
                persist.changes = FieldChanges::on_parent_state(self.call.graph.0.state, Resets::default());
                let parts = self.parts(shared)?;
                let mut ephemerals = Ephemerals::new(&parts.graph.ephemeral);
                // The ephemeral fields may have been written for the nodes that run first.
                ephemerals.record_writes(0, &[], |_| true);
                let mut driver = parts.on(persist, state.copied(), ephemerals)?;
                driver.returned = Some(Box::new(CallWrites::default()));
                driver.leave_start()?;
                driver.first_checkpoint()?;
                Ok(StartedCall { driver, state: None, lock: None })
            }
            CallStart::WithInput(input) => {
                let from = from.map(|stored| open_state(&self.call.graph.0, self.thread(), stored));
                let from = from.transpose().map_err(|kind| self.refuse(kind))?;
                let mut driver = self.driver(persist, shared, RunStart::Input(input(), from))?;
                self.has_begun(&mut driver);
                let state = Arc::clone(&driver.state);
                Ok(StartedCall { driver, state: Some(state), lock: None })
            }
        }
    }

    /// Marks the current state as the beginning of the call, which is stored whatever the durability.
    fn has_begun(&self, driver: &mut Driver) {
        driver.has_begun();
        match &driver.persist {
            // The checkpoint with the input does not contain the initial state, so it is stored for runs that
            // continue the call.
            Some(persist) if matches!(self.call.storage, CallStorage::Thread(_)) => persist.shared.release(),
            // A continued call returns the same beginning. The input made again would have other message ids.
            Some(persist) => persist.shared.keep(),
            None => {}
        }
    }

    /// Continues a call that an earlier attempt of the task has begun.
    async fn resumption(
        &self,
        stored: StoredCheckpoint,
        head: Option<CheckpointId>,
        parent_task: ParentTask,
    ) -> Result<StartedCall, Error> {
        let (restored, returned) = self.restored(stored)?;
        let begun = parent_task.begun;
        let (persist, shared) = self.writer(head, parent_task);
        let answers = self.answers(&restored);
        let resumption = Resumption { answers, ..Resumption::at(restored) };
        let mut driver = self.driver(persist, shared, RunStart::Resumption(resumption))?;
        if !driver.ctx.shared.parent_run.reported.is_older() {
            driver.pass_reported_breakpoints(&self.place.task);
        }
        driver.returned = returned;
        let state = self.begun_with(&mut driver, begun).await?;
        Ok(StartedCall { driver, state, lock: None })
    }

    /// Runs a call again from one of its checkpoints, as a new branch. Its beginning stays the same. Calls `inside` it
    /// continue from theirs.
    async fn replay(
        &self,
        stored: StoredCheckpoint,
        head: Option<CheckpointId>,
        parent_task: ParentTask,
        inside: BTreeMap<String, CheckpointId>,
    ) -> Result<StartedCall, Error> {
        let (mut restored, returned) = self.restored(stored)?;
        restored.enter = inside;
        let begun = parent_task.begun;
        let (persist, shared) = self.writer(head, parent_task);
        let mut driver = self.driver(persist, shared, RunStart::Replay(restored, None))?;
        driver.returned = returned;
        let state = self.begun_with(&mut driver, begun).await?;
        Ok(StartedCall { driver, state, lock: None })
    }

    /// Restores a checkpoint of the call, and its writes up to there if it works on the parent state.
    fn restored(
        &self,
        stored: StoredCheckpoint,
    ) -> Result<(RestoredCheckpoint, Option<Box<CallWrites>>), Error> {
        let (graph, thread) = (&self.call.graph.0, self.thread());
        match &self.call.start {
            CallStart::OnParentState(base) => {
                let restored = open_onto(graph, thread, stored, *base).map_err(|kind| self.refuse(kind))?;
                Ok((restored.0, Some(Box::new(restored.1))))
            }
            CallStart::WithInput(_) => {
                let restored = open(graph, thread, stored).map_err(|kind| self.refuse(kind))?;
                Ok((restored, None))
            }
        }
    }

    /// Returns the state at the beginning of the call.
    async fn begun_with(
        &self,
        driver: &mut Driver,
        begun: Option<CheckpointId>,
    ) -> Result<Option<Arc<dyn ErasedState>>, Error> {
        let CallStart::WithInput(input) = &self.call.start else { return Ok(None) };
        let Some(id) = begun else {
            self.has_begun(driver);
            return Ok(Some(Arc::clone(&driver.state)));
        };
        let shared = &self.parent_persistence.shared;
        let loaded = shared.store().get(shared.thread(), &self.namespace, Some(id)).await;
        match loaded.map_err(|error| self.store(error))?.found {
            Some(stored) => {
                let restored = open_state(&self.call.graph.0, self.thread(), stored);
                restored
                    .map(|restored: RestoredCheckpoint| Some(restored.state))
                    .map_err(|kind| self.refuse(kind))
            }
            // The call began with the state of an earlier call. Without that state, all of it would be taken as
            // written by this call.
            None if matches!(self.call.storage, CallStorage::Thread(_)) => Err(self.gone(Some(id))),
            // An older version has not stored its beginning.
            None => initial_state(input()).map(|(state, _)| Some(state)).map_err(|kind| self.refuse(kind)),
        }
    }

    /// Returns the answers that have arrived for the call's open interrupts.
    ///
    /// The task keeps them: if its attempt ends before the call has written them, the next attempt needs them.
    fn answers(&self, restored: &RestoredCheckpoint) -> Vec<GivenAnswer> {
        let mut given = Vec::new();
        for (task, task_progress) in restored.task_progress.iter().enumerate() {
            for open in &task_progress.questions {
                let answered = self.cx.memory(|memory| memory.answers.get(&open.id).cloned());
                if let Some(answered) = answered
                    && answered.question == open.question
                {
                    let (answer, version) = (AnswerJson::of(answered.answer), answered.versions.1);
                    given.push(GivenAnswer { task, open: open.clone(), answer, version });
                }
            }
        }
        given
    }

    /// Creates the call's connection to the thread, and the data that its tasks share.
    fn writer(&self, head: Option<CheckpointId>, parent_task: ParentTask) -> (Persist, RunShared) {
        let durability = self.cx.shared.parent_run.options.durability;
        let run = run_record(
            Arc::clone(&self.parent_persistence.run.id),
            Program::of(&self.call.graph.0).text(),
            self.parent_persistence.run.metadata.clone(),
        );
        let namespace = Arc::clone(&self.namespace);
        let journal = Journal::of_call(
            &self.parent_persistence.shared,
            place(self.cx.task()),
            namespace,
            head,
            durability,
        );
        let retained = match (&self.call.start, &self.call.storage) {
            (CallStart::OnParentState(_), _) => RetainedCheckpoint::Parent,
            (CallStart::WithInput(_), _) => RetainedCheckpoint::Input,
        };
        let persist = Persist::new(journal, run, head).with_parent_task(parent_task, retained);
        let mut shared = self.place.shared(self.call, self.cx);
        shared.steps = Some(persist.steps());
        shared.parent_run.parent_persistence = Some(persist.parent_persistence());
        (persist, shared)
    }

    fn parts(&self, shared: RunShared) -> Result<Parts, Error> {
        Parts::new(
            Arc::clone(&self.call.graph.0),
            Arc::clone(&self.call.context),
            shared,
            self.place.options(self.call, self.cx),
            self.place.listeners(self.call.graph.0.state, self.cx),
        )?
        .can_run()
    }

    fn driver(&self, persist: Persist, shared: RunShared, start: RunStart) -> Result<Driver, Error> {
        Driver::on_thread(
            Arc::clone(&self.call.graph.0),
            Arc::clone(&self.call.context),
            shared,
            self.place.options(self.call, self.cx),
            self.place.listeners(self.call.graph.0.state, self.cx),
            persist,
            start,
        )
    }

    fn thread(&self) -> &Arc<str> {
        self.parent_persistence.shared.thread()
    }

    fn refuse(&self, kind: ErrorKind) -> Error {
        Error::new(&self.call.graph.0.name, kind)
    }

    fn store(&self, error: CheckpointError) -> Error {
        self.refuse(ErrorKind::store(Arc::new(error)))
    }

    fn gone(&self, checkpoint: Option<CheckpointId>) -> Error {
        let thread = self.thread().to_string();
        match checkpoint {
            Some(checkpoint) => self.refuse(ErrorKind::NoCheckpoint { thread, checkpoint }),
            None => self.refuse(ErrorKind::NoThread { thread }),
        }
    }
}

const NOT_PLANNED: ErrorKind = ErrorKind::Runtime(
    "internal error: no checkpoint has planned the task that calls the subgraph; please report this",
);

impl Driver {
    /// Adds the first checkpoint of a call on the parent state. Nothing was written yet.
    fn first_checkpoint(&mut self) -> Result<(), Error> {
        let plan = self.plan(&[]);
        let plan = plan.map_err(|source| input_not_storable(&self.graph.name, self.step, source))?;
        if let Some(persist) = &mut self.persist {
            persist.checkpoint(CheckpointSource::Input, 0, None, plan, Vec::new(), Vec::new());
        }
        self.begin_superstep();
        Ok(())
    }

    /// Marks the current state as the beginning of the call.
    fn has_begun(&mut self) {
        if let Some(persist) = &mut self.persist {
            let at = persist.last();
            if let Some(parent_task) = &mut persist.parent_task
                && parent_task.begun.is_none()
            {
                parent_task.begun = at;
            }
        }
    }

    /// Waits until the call's writes are durable, as far as they have to be stored.
    pub(crate) async fn conclude_call(&mut self, storage: &CallStorage) -> Result<(), Error> {
        // With `Exit`, a call is stored only if it stops before its end, and this one has ended. Its end is also stored
        // if a subgraph inside keeps its state: it shows that this state is on the branch.
        let stays_deferred = self.options.durability == Durability::Exit
            && !matches!(storage, CallStorage::Thread(_))
            && !self.graph.kept_states.may_exist();
        if stays_deferred { Ok(()) } else { self.conclude().await }
    }
}
