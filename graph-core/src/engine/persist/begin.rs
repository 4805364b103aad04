//! How a run on a thread begins: with an input, where it was, or once again from an old checkpoint.

use std::any::Any;
use std::sync::Arc;

use crate::checkpoint::{Encoding, Payload, RecordKey, RecordKind, Source, TaskRecord};
use crate::engine::Driver;
use crate::engine::apply::{Rejected, Undos, broken_rules, fold, fold_unchecked};
use crate::engine::attempt::contained;
use crate::engine::begin::from_outside;
use crate::engine::commit::own;
use crate::engine::cx::{Ctx, RunShared};
use crate::engine::desk::Answered;
use crate::engine::encoded::Keep;
use crate::engine::ephemeral::Ephemerals;
use crate::engine::execute::Suspended;
use crate::engine::gates::Gates;
use crate::engine::halt::Halt;
use crate::engine::ledger::Ledger;
use crate::engine::options::RunOptions;
use crate::engine::reject::reject;
use crate::engine::task::{Failed, Finished};
use crate::error::{Error, ErrorKind};
use crate::graph::Compiled;
use crate::plan::{Progress, Task};
use crate::reducers::Stamp;
use crate::state::{GraphState, Input as _};
use crate::stream::Events;

use super::open::{Opened, START};
use super::pieces::{NotStored, Pieces, encode};
use super::records::{key, patch_records, write_records};
use super::writer::{Persist, Plan};

/// How a run on a thread begins.
pub(crate) enum Begin<S: GraphState> {
    /// With an input, behind a checkpoint or on a fresh thread.
    Input(S::Input, Option<Opened<S>>),
    /// Where the thread is.
    GoOn(GoOn<S>),
    /// From a checkpoint, as another branch.
    Again(Opened<S>),
}

/// What comes with a resumption.
pub(crate) struct GoOn<S: GraphState> {
    pub(crate) opened: Opened<S>,
    /// Answers to open questions, as records.
    pub(crate) answers: Vec<TaskRecord>,
    pub(crate) update: Option<S::Update>,
    /// Nodes to run besides.
    pub(crate) goto: Vec<usize>,
}

/// An input that is to be applied.
struct Waiting<S: GraphState> {
    input: Finished<S>,
    /// The fields that the state holds as the input has given them.
    given: Vec<usize>,
    /// The step of the checkpoint that holds it.
    step: i64,
}

impl<S: GraphState, D: Send + Sync + 'static> Driver<S, D> {
    /// A run on a thread, up to its first superstep. What it has written so far is in its journal.
    pub(crate) fn on_thread(
        graph: Arc<Compiled<S, D>>,
        context: Arc<D>,
        shared: RunShared,
        options: RunOptions,
        events: Option<Events<S>>,
        mut persist: Persist,
        begin: Begin<S>,
    ) -> Result<Self, Error> {
        let refuse = |kind| Error::new(&graph.name, kind);
        if options.max_concurrency == Some(0) {
            return Err(refuse(ErrorKind::Runtime("a run with `max_concurrency(0)` could never run a task")));
        }
        let ctx = Ctx::new(Arc::new(shared), context);
        let parts = Parts { graph: Arc::clone(&graph), ctx, options, events };
        match begin {
            Begin::Input(input, from) => parts.with_input(persist, input, from),
            Begin::GoOn(go_on) => parts.go_on(persist, go_on),
            Begin::Again(opened) => {
                let step = opened.checkpoint.step + 1;
                persist.pieces = Pieces::default();
                parts.again(persist, opened, step)
            }
        }
    }

    /// Applies an input to the state, plans what leaves START, and adds the checkpoint of it.
    fn apply_input(&mut self, waiting: Waiting<S>) -> Result<(), Error> {
        let Waiting { input, given, step } = waiting;
        self.step = u64::try_from(step + 1).unwrap_or_default();
        self.last_step = self.step.saturating_add(self.options.recursion_limit);
        self.ctx.cx.at.step = self.step;
        self.ctx.cx.at.remaining = self.options.recursion_limit;
        let mut cleared = Vec::new();
        let mut results = vec![Some(input)];
        if let Some(state) = own(&mut self.state) {
            for (field, ..) in self.ephemerals.alive() {
                state.clear_ephemeral(field);
                cleared.push(field);
            }
            let folded = fold_unchecked(state, &mut results, &mut self.ledger, &mut Undos::new());
            let mut written = given;
            written.extend_from_slice(self.ledger.touched());
            folded
                .and_then(|()| match broken_rules(&*state, &written) {
                    broken if broken.is_empty() => Ok(()),
                    broken => Err(Rejected::Rules(broken)),
                })
                .map_err(|rejected| reject(&[], self.step, &[], &mut results, rejected))
                .map_err(|kind| Error::new(&self.graph.name, kind))?;
            self.ephemerals.settle(self.step, &cleared, |field| written.contains(&field));
            self.progress = Progress::new(&self.graph.topology);
        }
        self.leave_start()?;
        let (step, touched) = (self.step, self.ledger.touched());
        if let Some(persist) = &mut self.persist {
            let pieces = persist.pieces.of_superstep(&*self.state, &results, touched, &cleared);
            let pieces = pieces.map_err(|(_, source)| input_not_storable(&self.graph.name, step, source))?;
            self.checkpoint(pieces)?;
        }
        Ok(())
    }
}

fn input_not_storable(graph: &str, step: u64, source: crate::state::EncodeError) -> Error {
    Error::new(graph, ErrorKind::NotStorable { nodes: vec![START.to_owned()], step, source })
}

/// What a driver is made of besides its state and its plan.
pub(super) struct Parts<S: GraphState, D> {
    pub(super) graph: Arc<Compiled<S, D>>,
    pub(super) ctx: Ctx<D>,
    pub(super) options: RunOptions,
    pub(super) events: Option<Events<S>>,
}

impl<S: GraphState, D: Send + Sync + 'static> Parts<S, D> {
    pub(super) fn error(&self, kind: ErrorKind) -> Error {
        Error::new(&self.graph.name, kind)
    }

    fn with_input(
        self,
        mut persist: Persist,
        input: S::Input,
        from: Option<Opened<S>>,
    ) -> Result<Driver<S, D>, Error> {
        let parent = from.as_ref().map(|from| from.checkpoint.id);
        let step = from.as_ref().map_or(-1, |from| from.checkpoint.step + 1);
        let thread = self.ctx.cx.thread().map(str::to_owned);
        let stamp = Stamp { thread: thread.as_deref(), ..Stamp::new(START, step_number(step + 1), 0) };
        let (state, given, update, ephemerals, pieces) = match from {
            // Nothing is stored of the state yet: the input that waits is given up.
            Some(Opened { fresh: false, state, ephemerals, pieces, .. }) => {
                (state, Vec::new(), input.into_update(), ephemerals, pieces)
            }
            _ => {
                let start = input.into_start();
                let ephemerals = Ephemerals::new(&self.graph.ephemeral);
                (start.state, start.given, start.update, ephemerals, Pieces::fresh::<S>())
            }
        };
        let input = from_outside::<S>(update, stamp, Keep::All).map_err(|kind| self.error(kind))?;
        let not_storable =
            |(_, source): NotStored| input_not_storable(&self.graph.name, step_number(step), source);
        let records = input_records(&state, &given, &input).map_err(not_storable)?;
        persist.pieces = pieces;
        let plan = Plan { next: vec![Arc::from(START)], progress: None };
        persist.checkpoint(Source::Input, step, parent, plan, Vec::new(), records);
        let mut driver = self.driver(persist, state, ephemerals)?;
        // Should the input be refused, nothing of the above is written: the run has not begun.
        driver.apply_input(Waiting { input, given, step })?;
        Ok(driver)
    }

    fn go_on(self, persist: Persist, go_on: GoOn<S>) -> Result<Driver<S, D>, Error> {
        let GoOn { mut opened, answers, update, goto } = go_on;
        let mut driver = self.at(persist, &mut opened)?;
        if let Some(input) = opened.input.take() {
            let waiting =
                Waiting { input, given: std::mem::take(&mut opened.given), step: opened.checkpoint.step };
            driver.apply_input(waiting)?;
        }
        let mut records = answers;
        for patch in std::mem::take(&mut opened.patches) {
            driver.patch(patch)?;
        }
        if let Some(update) = update {
            let patch = driver.outside(update)?;
            let earlier = opened.records.iter().filter(|record| record.key.kind == RecordKind::Patch).count();
            if let Some(encoded) = &patch.encoded {
                let patch = patch_records::<S>(earlier, encoded);
                let step = driver.step;
                records.extend(patch.map_err(|source| input_not_storable(&driver.graph.name, step, source))?);
            }
            driver.patch(patch)?;
        }
        let earlier = opened.records.iter().filter(|record| record.key.kind == RecordKind::Goto).count();
        for (index, node) in goto.into_iter().enumerate() {
            let name = self_name(&driver, node);
            let at = key(RecordKey::NO_TASK, RecordKind::Goto, &format!("{:04}", earlier + index));
            let payload = Payload::new(Encoding::Bytes, name.as_bytes());
            records.push(TaskRecord { key: at, payload });
            driver.tasks.push(Task { node, packet: None });
            driver.results.push(None);
            driver.attempts.push(0);
        }
        for record in &records {
            driver.take_answer(record);
        }
        if let Some(persist) = &mut driver.persist {
            persist.answered(records);
        }
        Ok(driver)
    }

    fn again(self, persist: Persist, mut opened: Opened<S>, step: i64) -> Result<Driver<S, D>, Error> {
        let from = opened.checkpoint.clone();
        let pieces = std::mem::take(&mut opened.pieces);
        let kept = |record: &&TaskRecord| opened.input.is_some() && record.key.kind == RecordKind::Write;
        let records = opened.records.iter().filter(kept).cloned().collect();
        // The branch begins with what was planned, and with none of what has come of it.
        opened.known.clear();
        opened.patches.clear();
        opened.gate = None;
        opened.tasks.truncate(from.next.len());
        opened.checkpoint.step = step;
        let mut persist = persist;
        persist.pieces = pieces;
        let mut driver = self.at(persist, &mut opened)?;
        let state = Arc::clone(&driver.state);
        let graph = driver.graph.name.clone();
        if let Some(persist) = &mut driver.persist {
            let none: [Option<Finished<S>>; 0] = [];
            let pieces = if opened.fresh {
                Vec::new()
            } else {
                let stored = persist.pieces.of_superstep(&*state, &none, &[], &[]);
                stored.map_err(|(_, source)| input_not_storable(&graph, step_number(step), source))?
            };
            let plan = Plan { next: from.next.clone(), progress: from.progress.clone() };
            persist.checkpoint(Source::Fork, step, Some(from.id), plan, pieces, records);
        }
        drop(state);
        // Its tasks are others than those of the branch that it leaves.
        driver.begin_superstep();
        if let Some(input) = opened.input.take() {
            let given = std::mem::take(&mut opened.given);
            driver.apply_input(Waiting { input, given, step })?;
        }
        Ok(driver)
    }

    /// A driver that stands where a checkpoint does.
    pub(super) fn at(self, mut persist: Persist, opened: &mut Opened<S>) -> Result<Driver<S, D>, Error> {
        persist.at = Some(opened.checkpoint.id);
        if !opened.pieces.is_empty() {
            persist.pieces = std::mem::take(&mut opened.pieces);
        }
        if opened.fresh {
            persist.pieces = Pieces::fresh::<S>();
        }
        let state = opened.state.__duplicate();
        let ephemerals = std::mem::take(&mut opened.ephemerals);
        let mut driver = self.driver(persist, state, ephemerals)?;
        driver.step = step_number(opened.checkpoint.step);
        driver.last_step = driver.step.saturating_add(driver.options.recursion_limit);
        driver.ctx.cx.at.remaining = driver.options.recursion_limit;
        driver.progress = std::mem::take(&mut opened.progress);
        std::mem::swap(&mut driver.progress.tasks, &mut opened.tasks);
        driver.take_plan();
        driver.begin_superstep();
        // The thread has stopped here before: it goes on past the breakpoint.
        driver.halt = opened.gate.take().map(|gate| Halt { before: gate.before, after: gate.after });
        if driver.halt.is_some() {
            driver.pass_gate();
        }
        for (index, known) in opened.known.iter_mut().enumerate() {
            if let Some(slot) = driver.results.get_mut(index) {
                *slot = known.result.take();
            }
            let (answers, steps) = (std::mem::take(&mut known.answers), std::mem::take(&mut known.steps));
            if !answers.is_empty() || !steps.is_empty() {
                driver.ctx.cx.shared.memos.of(driver.step + 1, index, |memo| {
                    let answers = answers.into_iter();
                    memo.answers.extend(answers.map(|(id, question, answer)| {
                        (id, Answered { question: question.question, answer })
                    }));
                    memo.steps.extend(steps);
                });
            }
            let node = driver.graph.node_name(driver.tasks.get(index).map_or(usize::MAX, |task| task.node));
            let open = std::mem::take(&mut known.questions).into_iter();
            let open: Vec<_> = open.map(|(id, question)| question.open(id, node, index)).collect();
            if !open.is_empty() {
                driver.suspended.insert(index, open);
            }
            if let (Some(slot), Some(failure)) = (driver.attempts.get_mut(index), &known.failure) {
                *slot = failure.attempt;
            }
        }
        if let Some(persist) = &mut driver.persist {
            persist.remember(&driver.results, &opened.records);
        }
        Ok(driver)
    }

    pub(super) fn driver(
        self,
        persist: Persist,
        mut state: S,
        ephemerals: Ephemerals,
    ) -> Result<Driver<S, D>, Error> {
        let context: &(dyn Any + Send + Sync) = &*self.ctx.context;
        let rebuilt = contained(|| state.rebuild_untracked(context));
        if let Err(field) = rebuilt.map_err(|panic| {
            let first = Failed::Panic(panic).into_failure(START, 0, 1);
            self.error(ErrorKind::Node { first, others: Vec::new() })
        })? {
            let context = std::any::type_name::<D>();
            return Err(self.error(ErrorKind::Context { field: field.name, context }));
        }
        let gates = Gates::of(&self.graph, &self.options.breakpoints).map_err(|kind| self.error(kind))?;
        let Self { graph, ctx, options, events } = self;
        let observed = events.is_some();
        Ok(Driver {
            state: Arc::new(state),
            progress: Progress::new(&graph.topology),
            graph,
            ctx,
            last_step: options.recursion_limit,
            options,
            events,
            step: 0,
            tasks: Vec::new(),
            results: Vec::new(),
            attempts: Vec::new(),
            suspended: Suspended::new(),
            halt: None,
            gates,
            ephemerals,
            ledger: Ledger::default(),
            undos: Undos::new(),
            persist: Some(Box::new(Persist { observed, ..persist })),
        })
    }
}

impl<S: GraphState, D: Send + Sync + 'static> Driver<S, D> {
    /// An update from outside, prepared and encoded.
    fn outside(&self, update: S::Update) -> Result<Finished<S>, Error> {
        let stamp = Stamp { thread: self.ctx.cx.thread(), ..Stamp::new(START, self.step, 0) };
        from_outside::<S>(update, stamp, Keep::All).map_err(|kind| self.error(kind))
    }

    /// Takes an answer in that has come with a resumption.
    fn take_answer(&mut self, record: &TaskRecord) {
        let task = usize::try_from(record.key.task).unwrap_or(usize::MAX);
        let asked = self.suspended.get_mut(&task);
        let asked = asked.and_then(|open| {
            open.iter().position(|open| *open.id == *record.key.key).map(|at| open.remove(at))
        });
        let answer = serde_json::from_slice(record.payload.bytes());
        if let (RecordKind::Answer, Some(open), Ok(answer)) = (record.key.kind, asked, answer) {
            self.ctx.cx.shared.memos.of(self.step + 1, task, |memo| {
                memo.answers.insert(open.id, Answered { question: open.question, answer });
            });
            // The question stays with its answer, although it is not open any more.
            if let Some(persist) = &mut self.persist {
                persist.asked.retain(|asked| (asked.task, &asked.key) != (record.key.task, &record.key.key));
            }
        }
    }

    /// Applies an update that comes before the superstep's tasks; it is stored with the checkpoint that follows them.
    fn patch(&mut self, patch: Finished<S>) -> Result<(), Error> {
        let mut results = vec![Some(patch)];
        let Some(state) = own(&mut self.state) else { return Ok(()) };
        fold(state, &mut results, &mut self.ledger, &mut Undos::new())
            .map_err(|rejected| reject(&[], self.step, &[], &mut results, rejected))
            .map_err(|kind| Error::new(&self.graph.name, kind))?;
        let touched = self.ledger.touched();
        let encoded = results.first().and_then(|result| result.as_ref()?.encoded.as_deref());
        if let Some(persist) = &mut self.persist {
            persist
                .carry(&*self.state, encoded, touched)
                .map_err(|(_, source)| input_not_storable(&self.graph.name, self.step, source))?;
        }
        Ok(())
    }
}

fn self_name<S: GraphState, D>(driver: &Driver<S, D>, node: usize) -> Arc<str> {
    driver.graph.names.get(node).cloned().unwrap_or_else(|| Arc::from("?"))
}

/// A step as the engine counts supersteps.
fn step_number(step: i64) -> u64 {
    u64::try_from(step).unwrap_or_default()
}

/// The records of an input: the fields that it gives past their reducers, and its writes.
fn input_records<S: GraphState>(
    state: &S,
    given: &[usize],
    input: &Finished<S>,
) -> Result<Vec<TaskRecord>, NotStored> {
    let (mut records, mut buffer) = (Vec::new(), Vec::new());
    for (ordinal, &field) in given.iter().enumerate() {
        if let (Some(spec), Some(payload)) = (S::field(field), encode(state, field, &mut buffer)?) {
            let name = format!("{ordinal:04}v:{}", spec.name);
            records.push(TaskRecord { key: key(0, RecordKind::Write, &name), payload });
        }
    }
    if let Some(encoded) = &input.encoded {
        let mut writes = write_records::<S>(0, RecordKind::Write, encoded);
        for record in &mut writes {
            // Behind the given fields.
            record.key.key = Arc::from(format!("1{}", record.key.key));
        }
        records.extend(writes);
    }
    Ok(records)
}
