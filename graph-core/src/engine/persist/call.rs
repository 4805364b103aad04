//! Subgraph calls on the parent run's thread, each in its own namespace.

use std::pin::Pin;
use std::sync::Arc;

use crate::checkpoint::{CheckpointError, CheckpointId, CheckpointSource, StoredCheckpoint};
use crate::engine::begin::begin;
use crate::engine::child::{Beginning, Begun, Call, CallWrites, Kept, Place};
use crate::engine::cx::{Context, RunShared};
use crate::engine::desk::StepLog;
use crate::engine::ephemeral::Ephemerals;
use crate::engine::erased::ErasedState;
use crate::engine::parts::Parts;
use crate::engine::{Driver, Durability};
use crate::error::{Error, ErrorKind};
use crate::node::NodeError;

use super::begin::Begin;
use super::hooks::run_record;
use super::host::{Host, Under};
use super::input::input_not_storable;
use super::journal::Journal;
use super::keys::place;
use super::lineage::before;
use super::open::{open, open_onto, open_state};
use super::opened::Opened;
use super::pieces::Pieces;
use super::program::Program;
use super::progress::under;
use super::question::answer_records;
use super::resets::Resets;
use super::resume::GoOn;
use super::writer::{Needs, Persist};

/// Begins a subgraph call on the parent run's thread, or continues it from there.
///
/// The future is boxed because it is large and awaited once per call.
pub(in crate::engine) fn call_on_thread<'c>(
    call: &'c Call<'c>,
    place: &'c Place,
    cx: &'c Context,
    host: &'c Host,
) -> Begins<'c> {
    Box::pin(async move {
        let mut opening = Opening { call, place, namespace: Arc::clone(&place.namespace), cx, host };
        opening.find().await?;
        let lease = host.lease(&opening.namespace)?;
        if matches!(call.kept, Kept::Thread(_)) {
            // The checkpoints that planned the earlier call and this one decide whether both are on the same branch,
            // so they have to be durable.
            StepLog::flush(&*host.shared).await?;
        }
        let begun = opening.open().await?;
        if let Some(persist) = &begun.driver.persist {
            Journal::begins(&persist.journal);
        }
        Ok(Begun { lease: Some(lease), ..begun })
    })
}

/// The start of a subgraph call.
type Begins<'c> = Pin<Box<dyn Future<Output = Result<Begun, NodeError>> + Send + 'c>>;

/// The writes so far of a call on the parent state.
type Written = Option<Box<CallWrites>>;

/// The parts needed to open a call.
struct Opening<'c> {
    call: &'c Call<'c>,
    place: &'c Place,
    /// The namespace of the call.
    namespace: Arc<str>,
    cx: &'c Context,
    host: &'c Host,
}

impl Opening<'_> {
    /// Finds the namespace of the call. It may be that of a former name of the node, which stays in use.
    async fn find(&mut self) -> Result<(), Error> {
        let shared = &self.host.shared;
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

    async fn open(&self) -> Result<Begun, Error> {
        let shared = &self.host.shared;
        let (store, thread) = (shared.store(), shared.thread());
        let enter = self.cx.shared.nest.enter(&self.namespace);
        let Some(checkpoint) = shared.at() else { return Err(self.refuse(NOT_PLANNED)) };
        let under = Under::at(checkpoint, Some(self.cx.task()));
        let loaded = store.get(thread, &self.namespace, enter).await.map_err(|error| self.store(error))?;
        let head = loaded.fence.head;
        match loaded.found {
            Some(stored) if enter.is_some() => self.again(stored, head, under).await,
            None if enter.is_some() => Err(self.gone(enter)),
            Some(stored) if is_within(&stored, &under) => self.go_on(stored, head, under).await,
            _ => {
                let from = match &self.call.kept {
                    Kept::Thread(_) => before(&**store, thread, &self.namespace, &shared.path(), checkpoint)
                        .await
                        .map_err(|error| self.store(error))?,
                    Kept::Call | Kept::Nothing => None,
                };
                self.begin(from, head, under)
            }
        }
    }

    /// Begins a new call.
    fn begin(
        &self,
        from: Option<StoredCheckpoint>,
        head: Option<CheckpointId>,
        under: Under,
    ) -> Result<Begun, Error> {
        let (mut persist, shared) = self.writer(head, under);
        match &self.call.beginning {
            Beginning::On(state) => {
                persist.pieces = Pieces::within(self.call.graph.0.state, Resets::default());
                let parts = self.parts(shared)?;
                let mut ephemerals = Ephemerals::new(&parts.graph.ephemeral);
                // The ephemeral fields may have been written for the nodes that run first.
                ephemerals.settle(0, &[], |_| true);
                let mut driver = parts.on(persist, state.copied(), ephemerals)?;
                driver.returned = Some(Box::new(CallWrites::default()));
                driver.leave_start()?;
                driver.first_checkpoint()?;
                Ok(Begun { driver, state: None, lease: None })
            }
            Beginning::With(input) => {
                let from = from.map(|stored| open_state(&self.call.graph.0, self.thread(), stored));
                let from = from.transpose().map_err(|kind| self.refuse(kind))?;
                let keeps = matches!(self.call.kept, Kept::Thread(_));
                let mut driver = self.driver(persist, shared, Begin::Input(input(), from))?;
                driver.has_begun();
                match &driver.persist {
                    // The checkpoint with the input does not contain the initial state, so it is stored for runs that
                    // continue the call.
                    Some(persist) if keeps => persist.shared.release(),
                    // A continued call returns the same beginning. The input made again would have other message ids.
                    Some(persist) => persist.shared.keep(),
                    None => {}
                }
                let state = Arc::clone(&driver.state);
                Ok(Begun { driver, state: Some(state), lease: None })
            }
        }
    }

    /// Continues a call that an earlier attempt of the task has begun.
    async fn go_on(
        &self,
        stored: StoredCheckpoint,
        head: Option<CheckpointId>,
        here: Under,
    ) -> Result<Begun, Error> {
        let begun = under(&stored.checkpoint).and_then(|under| under.begun);
        let (opened, returned) = self.opened(stored)?;
        let (persist, shared) = self.writer(head, Under { begun, ..here });
        let answers = self.answers(&opened);
        let go_on = GoOn { answers, ..GoOn::at(opened) };
        let mut driver = self.driver(persist, shared, Begin::GoOn(go_on))?;
        driver.returned = returned;
        let state = self.begun_with(&mut driver, begun).await?;
        Ok(Begun { driver, state, lease: None })
    }

    /// Runs a call again from one of its checkpoints, as a new branch. Its beginning stays the same.
    async fn again(
        &self,
        stored: StoredCheckpoint,
        head: Option<CheckpointId>,
        here: Under,
    ) -> Result<Begun, Error> {
        let begun = under(&stored.checkpoint).and_then(|under| under.begun);
        let (opened, returned) = self.opened(stored)?;
        let (persist, shared) = self.writer(head, Under { begun, ..here });
        let mut driver = self.driver(persist, shared, Begin::Again(opened, None))?;
        driver.returned = returned;
        let state = self.begun_with(&mut driver, begun).await?;
        Ok(Begun { driver, state, lease: None })
    }

    /// Restores a checkpoint of the call, and its writes up to there.
    fn opened(&self, stored: StoredCheckpoint) -> Result<(Opened, Written), Error> {
        let (graph, thread) = (&self.call.graph.0, self.thread());
        match &self.call.beginning {
            Beginning::On(base) => {
                let opened = open_onto(graph, thread, stored, *base).map_err(|kind| self.refuse(kind))?;
                Ok((opened.0, Some(Box::new(opened.1))))
            }
            Beginning::With(_) => {
                let opened = open(graph, thread, stored).map_err(|kind| self.refuse(kind))?;
                Ok((opened, None))
            }
        }
    }

    /// Returns the state at the beginning of the call.
    async fn begun_with(
        &self,
        driver: &mut Driver,
        begun: Option<CheckpointId>,
    ) -> Result<Option<Arc<dyn ErasedState>>, Error> {
        let Beginning::With(input) = &self.call.beginning else { return Ok(None) };
        let Some(id) = begun else {
            driver.has_begun();
            return Ok(Some(Arc::clone(&driver.state)));
        };
        let shared = &self.host.shared;
        let loaded = shared.store().get(shared.thread(), &self.namespace, Some(id)).await;
        match loaded.map_err(|error| self.store(error))?.found {
            Some(stored) => {
                let opened = open_state(&self.call.graph.0, self.thread(), stored);
                opened.map(|opened: Opened| Some(opened.state)).map_err(|kind| self.refuse(kind))
            }
            // The call began with the state of an earlier call. Without that state, all of it would be taken as
            // written by this call.
            None if matches!(self.call.kept, Kept::Thread(_)) => Err(self.gone(Some(id))),
            // An older version has not stored its beginning.
            None => begin(input()).map(|(state, _)| Some(state)).map_err(|kind| self.refuse(kind)),
        }
    }

    /// Returns the answers that have arrived for the call's open interrupts, as records of the call.
    ///
    /// The task keeps them: if its attempt ends before the call has written them, the next attempt needs them.
    fn answers(&self, opened: &Opened) -> Vec<crate::checkpoint::TaskRecord> {
        let mut records = Vec::new();
        for (task, known) in opened.known.iter().enumerate() {
            for (id, question) in &known.questions {
                let answered = self.cx.memo(|memo| memo.answers.get(id).cloned());
                if let Some(answered) = answered
                    && answered.question == question.question
                {
                    let answer = (&answered.answer, answered.versions.1);
                    records.extend(answer_records(task, id, question, answer));
                }
            }
        }
        records
    }

    /// Creates the call's connection to the thread, and the data that its tasks share.
    fn writer(&self, head: Option<CheckpointId>, under: Under) -> (Persist, RunShared) {
        let durability = self.cx.shared.nest.options.durability;
        let run = run_record(
            Arc::clone(&self.host.run.id),
            Program::of(&self.call.graph.0).text(),
            self.host.run.metadata.clone(),
        );
        let namespace = Arc::clone(&self.namespace);
        let journal = Journal::within(&self.host.shared, place(self.cx.task()), namespace, head, durability);
        let needs = match (&self.call.beginning, &self.call.kept) {
            (Beginning::On(_), _) => Needs::Around,
            (Beginning::With(_), _) => Needs::Beginning,
        };
        let persist = Persist::new(journal, run, head).within(under, needs);
        let mut shared = self.place.shared(self.call, self.cx);
        shared.steps = Some(persist.steps());
        shared.nest.host = Some(persist.host());
        shared.nest.enter = Arc::clone(&self.cx.shared.nest.enter);
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

    fn driver(&self, persist: Persist, shared: RunShared, begin: Begin) -> Result<Driver, Error> {
        Driver::on_thread(
            Arc::clone(&self.call.graph.0),
            Arc::clone(&self.call.context),
            shared,
            self.place.options(self.call, self.cx),
            self.place.listeners(self.call.graph.0.state, self.cx),
            persist,
            begin,
        )
    }

    fn thread(&self) -> &Arc<str> {
        self.host.shared.thread()
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

fn is_within(stored: &StoredCheckpoint, here: &Under) -> bool {
    under(&stored.checkpoint).is_some_and(|under| under.is_within(here))
}

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
            if let Some(under) = &mut persist.under
                && under.begun.is_none()
            {
                under.begun = at;
            }
        }
    }

    /// Waits until the call's writes are durable, as far as they have to be stored.
    pub(in crate::engine) async fn conclude_call(&mut self, kept: &Kept) -> Result<(), Error> {
        // With `Exit`, a call is stored only if it stops before its end, and this one has ended. Its end is also stored
        // if a subgraph inside keeps its state: it shows that this state is on the branch.
        let held = self.options.durability == Durability::Exit
            && !matches!(kept, Kept::Thread(_))
            && !self.graph.kept_states.may_exist();
        if held { Ok(()) } else { self.conclude().await }
    }
}
