//! Updates from outside: supersteps whose writes come from no task.

use std::sync::Arc;

use crate::checkpoint::{Checkpoint, CheckpointId, StoredField, StoredStatus, TaskRecord};
use crate::engine::apply::{Ephemerals, WriteSet};
use crate::engine::context::{AppContext, RunShared};
use crate::engine::graph::Compiled;
use crate::engine::persist::{CheckpointKind, Persist};
use crate::engine::restore::RestoredCheckpoint;
use crate::engine::run::Driver;
use crate::engine::stored::{FieldChanges, START, progress};
use crate::engine::task::{Finished, Keep};
use crate::erased::{ErasedState, StateType, TaskWrites};
use crate::error::{Error, ErrorKind};
use crate::options::RunOptions;
use crate::plan::Task;
use crate::reducers::Stamp;
use crate::state::{EncodeError, Restore};
use crate::step::Leave;

use super::initial_state::from_outside;
use super::keep_plan::KeptPlan;
use super::outside::{Outside, UpdatedNode};
use super::parts::Parts;

/// Returns the nodes on whose behalf the updates of a checkpoint were made.
pub(crate) fn updated_as(thread: &Arc<str>, checkpoint: &Checkpoint) -> Result<Vec<String>, ErrorKind> {
    Ok(progress::read(thread, checkpoint)?.updated_as)
}

/// Returns the first state of a thread whose first writes are updates: its required fields come from the updates, the
/// others have their initial values.
///
/// The updates are then applied to it through the reducers, as to any state.
fn first_state(
    graph: &Compiled,
    thread: Option<&str>,
    updates: &[Outside],
) -> Result<Arc<dyn ErasedState>, ErrorKind> {
    let required = |field: usize| graph.state.field(field).filter(|spec| spec.required);
    let mut fields: Vec<StoredField> = Vec::new();
    if (0..graph.state.fields).any(|field| required(field).is_some()) {
        for outside in updates {
            let mut writes = outside.update.clone();
            writes.retain(graph.state, |field| required(field).is_some());
            let stamp = Stamp { thread, ..Stamp::new(outside.place.name(graph), 0, 0) };
            let given = from_outside(writes, stamp, Keep::All)?;
            fields.extend(given.encoded.iter().flat_map(|encoded| encoded.values(graph.state)));
        }
    }
    let given = |name: &str| fields.iter().any(|field| field.field == name);
    let missing =
        (0..graph.state.fields).filter_map(required).map(|spec| spec.name).filter(|name| !given(name));
    let missing: Vec<String> = missing.map(str::to_owned).collect();
    if !missing.is_empty() {
        return Err(ErrorKind::MissingFields {
            thread: thread.unwrap_or_default().to_owned(),
            fields: missing,
        });
    }
    (graph.state.restore)(&mut Restore::new(fields)).map_err(|error| {
        let source = EncodeError::not_read_back(&error);
        ErrorKind::NotStorable { nodes: vec![START.to_owned()], step: 0, source }
    })
}

/// The parts of a driver that applies updates.
type UpdateParts = (Arc<Compiled>, Arc<dyn AppContext>, RunShared, RunOptions);

impl Driver {
    /// Creates a driver that has applied updates, each list as a superstep. Nothing is stored yet.
    ///
    /// `status` is that of the thread.
    pub(crate) fn with_updates(
        (graph, context, shared, options): UpdateParts,
        mut persist: Persist,
        restored: Option<RestoredCheckpoint>,
        (is_head, status): (bool, StoredStatus),
        supersteps: Vec<Vec<Outside>>,
    ) -> Result<Self, Error> {
        let parts = Parts::new(graph, context, shared, options, None)?;
        let keeps =
            supersteps.first().into_iter().flatten().any(|outside| outside.place == UpdatedNode::Plan);
        let mut kept = None;
        let (mut driver, mut step, mut begun) = match restored {
            Some(mut restored) if keeps && restored.input.is_some() => {
                // The tasks that follow the input are the plan.
                let input = restored.pending_input();
                let mut driver = parts.at(persist, &mut restored)?;
                if let Some(input) = input {
                    driver.apply_input(input)?;
                }
                kept = Some(KeptPlan::unstarted());
                let step = driver.step + 1;
                (driver, step, true)
            }
            Some(mut restored) if !restored.fresh => {
                if !is_head {
                    restored.forget_progress();
                }
                kept = keeps.then(|| KeptPlan::of(&mut restored, is_head.then_some(status)));
                let driver = parts.at(persist, &mut restored)?;
                let step = driver.step + 1;
                (driver, step, true)
            }
            restored => {
                let first = supersteps.first().map(Vec::as_slice).unwrap_or_default();
                let state =
                    first_state(&parts.graph, parts.ctx.thread(), first).map_err(|kind| parts.error(kind))?;
                persist.changes = FieldChanges::fresh(parts.graph.state);
                // A call that keeps its state may have other checkpoints on other branches.
                persist.at = restored.as_ref().map(|restored| restored.checkpoint.id);
                let ephemerals = Ephemerals::new(&parts.graph.ephemeral);
                // The first update is superstep 0, like the application of an input.
                let step = restored.as_ref().map_or(0, |restored| restored.checkpoint.step.saturating_add(1));
                (parts.on(persist, state, ephemerals)?, u64::try_from(step).unwrap_or_default(), false)
            }
        };
        for updates in supersteps {
            if updates.iter().any(|outside| outside.place == UpdatedNode::Plan) {
                driver.keep_plan(step, updates, kept.get_or_insert_with(KeptPlan::unstarted))?;
                begun = true;
                step += 1;
                continue;
            }
            kept = None;
            let inferred = updates.iter().find(|outside| outside.inferred && begun);
            let inferred =
                inferred.map(|outside| (outside.place, updates.iter().all(|outside| outside.inferred)));
            let pending = if inferred.is_some() { driver.pending_nodes() } else { Vec::new() };
            driver.superstep_from_outside(step, updates)?;
            if let Some((place, alone)) = inferred {
                driver.check_planned_again(place, alone, &pending)?;
            }
            begun = true;
            step += 1;
        }
        Ok(driver)
    }

    /// Returns the nodes of the planned tasks that have no result, sorted.
    fn pending_nodes(&self) -> Vec<usize> {
        let tasks = self.tasks.iter().enumerate();
        let open = |index: &usize| self.results.get(*index).is_none_or(Option::is_none);
        let mut nodes: Vec<usize> =
            tasks.filter(|(index, _)| open(index)).map(|(_, task)| task.node).collect();
        nodes.sort_unstable();
        nodes
    }

    /// Refuses an update in the place of an inferred node if it has not planned the pending tasks again.
    ///
    /// If all updates of the superstep are `alone` in the place of that node, it may not plan other tasks either.
    fn check_planned_again(&self, place: UpdatedNode, alone: bool, pending: &[usize]) -> Result<(), Error> {
        let planned = self.pending_nodes();
        let same = match alone {
            true => planned == pending,
            false => pending.iter().all(|node| planned.contains(node)),
        };
        if same {
            return Ok(());
        }
        let names =
            |nodes: &[usize]| nodes.iter().map(|&node| self.graph.node_name(node).to_owned()).collect();
        Err(self.error(ErrorKind::NotPlannedAgain {
            thread: self.ctx.thread().unwrap_or_default().to_owned(),
            node: place.name(&self.graph).to_owned(),
            pending: names(pending),
            planned: names(&planned),
        }))
    }

    /// Makes the updates durable, and returns the last checkpoint. It has the record of the request, if there is one.
    pub(crate) async fn conclude_updates(
        mut self,
        request: Option<TaskRecord>,
    ) -> Result<CheckpointId, Error> {
        if let Some(persist) = &self.persist {
            persist.records(request.into_iter().collect(), Vec::new());
        }
        self.conclude().await?;
        match self.persist.as_ref().and_then(|persist| persist.last()) {
            Some(id) => Ok(id),
            None => Err(self.error(ErrorKind::Runtime("an update needs at least one superstep"))),
        }
    }

    /// Applies an update on behalf of START in place of the planned tasks, and plans the successors of START.
    ///
    /// It takes a superstep number, but does not count against the recursion limit.
    pub(crate) fn replan(&mut self, update: TaskWrites) -> Result<(), Error> {
        let (tasks, attempts) = (self.tasks.clone(), self.attempts.clone());
        self.stop_point = None;
        self.results.fill_with(|| None);
        let outside = Outside { update, place: UpdatedNode::Start, leave: Leave::ByEdges, inferred: false };
        let planned = self.superstep_from_outside(self.step + 1, vec![outside]);
        match &planned {
            Ok(()) => self.last_step = self.last_step.saturating_add(1),
            Err(_) => {
                self.results.clear();
                self.results.resize_with(tasks.len(), || None);
                (self.tasks, self.attempts) = (tasks, attempts);
                // The refused update has no checkpoint. The next checkpoint is that of a superstep.
                if let Some(persist) = &mut self.persist {
                    persist.next_kind = CheckpointKind::Superstep;
                }
            }
        }
        planned
    }

    /// Applies a superstep of updates, together with the finished results of the planned superstep.
    fn superstep_from_outside(&mut self, step: u64, updates: Vec<Outside>) -> Result<(), Error> {
        // Finished tasks have written under the indices of the plan. The updates get indices after them.
        let planned = self.tasks.len();
        let finished = std::mem::take(&mut self.tasks).into_iter().zip(std::mem::take(&mut self.results));
        let finished = finished.filter_map(|(task, result)| Some((task, Some(result?))));
        let (mut tasks, mut results): (Vec<Task>, Vec<Option<Finished>>) = finished.unzip();
        let (mut names, mut ends) = (Vec::new(), false);
        for (at, Outside { update, place, leave, .. }) in updates.into_iter().enumerate() {
            let name = place.name(&self.graph);
            ends |= place == UpdatedNode::End;
            names.push(name.to_owned());
            let stamp = Stamp { thread: self.ctx.stamp_thread(), ..Stamp::new(name, step, planned + at) };
            let made = from_outside(update, stamp, Keep::All).map_err(|kind| self.error(kind))?;
            // The update replaces its node's task, if that is planned and unfinished.
            tasks.push(Task { node: place.number(), packet: None });
            results.push(Some(Finished { leave, ..made }));
        }
        let of_tasks = results.len().saturating_sub(names.len());
        let (kept, made) = results.split_at_mut(of_tasks);
        drop_conflicting_writes(self.graph.state, kept, made);
        self.attempts = vec![1; tasks.len()];
        (self.tasks, self.results) = (tasks, results);
        self.ctx.at.step = step;
        if let Some(persist) = &mut self.persist {
            persist.next_kind = CheckpointKind::Update { names, ends };
        }
        self.commit(step)
    }
}

/// Resolves write conflicts that updates settle. If several finished tasks wrote a field that only one may write, and
/// an update sets that field, the tasks' writes to it are dropped.
fn drop_conflicting_writes(state: &StateType, kept: &mut [Option<Finished>], made: &[Option<Finished>]) {
    let mut write_set = WriteSet::default();
    write_set.open(state.fields);
    for (task, finished) in kept.iter().enumerate() {
        finished.iter().for_each(|finished| write_set.enter(task, &finished.writes));
    }
    let given = |field: usize| made.iter().flatten().any(|finished| finished.writes.has(field));
    let settled: Vec<usize> =
        write_set.conflicts().map(|conflict| conflict.field).filter(|&field| given(field)).collect();
    if settled.is_empty() {
        return;
    }
    for finished in kept.iter_mut().flatten() {
        finished.writes.retain(state, |field| !settled.contains(&field));
        // The next checkpoint takes its deltas from here.
        if let Some(encoded) = &mut finished.encoded {
            encoded.writes.retain(|write| !settled.contains(&write.field));
        }
    }
}
