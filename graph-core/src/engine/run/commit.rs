use crate::checkpoint::FieldChange;
use crate::engine::apply::{
    NOT_OWNED, Rejection, Unrouted, call_route, call_routes, decider, fold, fold_alone, own, rejection,
};
use crate::engine::at::At;
use crate::engine::graph::ErasedSource;
use crate::engine::task::Finished;
use crate::erased::TaskWrites;
use crate::error::{Error, ErrorKind};
use crate::plan::{Progress, START_PLACE, Task, plan};
use crate::step::{Choice, Leave};

use super::driver::Driver;

impl Driver {
    /// Applies the superstep's results, all or nothing, and plans the next superstep.
    #[inline(never)]
    pub(crate) fn commit(&mut self, step: u64) -> Result<(), Error> {
        let writes = self.returned.is_some().then(|| written(&self.results));
        let cleared = if self.tasks.len() == 1 && self.ephemerals.is_empty() {
            self.apply_one(step)?;
            Vec::new()
        } else {
            self.apply_many(step)?
        };
        let changes = self.changes(step, &cleared)?;
        let touched = self.write_set.touched();
        self.ephemerals.record_writes(step, &cleared, |field| touched.contains(&field));
        if let (Some(returned), Some(writes)) = (&mut self.returned, writes) {
            returned.add(self.graph.state, &self.write_set, &cleared, &writes);
        }
        self.undos.forget();
        self.step = step;
        let left = self.tasks.iter().zip(&mut self.results);
        let node = |task: &Task| (task.node != START_PLACE).then_some(task.node);
        let left = left.filter_map(|(task, result)| Some((node(task), &mut result.as_mut()?.leave)));
        let ends_with_commands = plan(&self.graph.topology, &mut self.progress, step, left);
        if self.persist.as_ref().is_some_and(|persist| persist.ends()) {
            self.progress = Progress::new(&self.graph.topology);
        }
        if ends_with_commands {
            return self.end_with_commands(step, changes);
        }
        self.ephemerals.keep(step, &self.progress);
        self.take_plan();
        match changes {
            None => Ok(()),
            Some(changes) => self.checkpoint(changes),
        }
    }

    /// Applies the result of a superstep's only task and plans its only successor. Returns `false` and does nothing if
    /// the general case has to decide: there is no such successor, or there are several writes.
    ///
    /// Only for a run in memory without events and without ephemeral fields.
    #[inline]
    pub(crate) fn commit_alone(&mut self, step: u64) -> Result<bool, Error> {
        let ([task], [result @ Some(_)], [attempts]) =
            (self.tasks.as_mut_slice(), self.results.as_mut_slice(), self.attempts.as_mut_slice())
        else {
            return Ok(false);
        };
        let Some(finished) = result else { return Ok(false) };
        let Some(node) = self.graph.nodes.get(task.node) else { return Ok(false) };
        let next = match &finished.leave {
            Leave::ByEdges => node.chain,
            Leave::By(Choice { exit, packet: None }) => node.exit_chains.get(*exit).copied().flatten(),
            _ => None,
        };
        let Some(next) = next.filter(|_| self.progress.waiting.is_empty()) else { return Ok(false) };
        // Without an owned state the writes stay in place, and the general case reports the error.
        let Some(state) = own(&mut self.state) else { return Ok(false) };
        let fallible = self.graph.state.fallible;
        match fold_alone(state, fallible, &mut finished.writes, &mut self.write_set, &mut self.undos) {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            Err(rejected) => return Err(self.rejected_alone(rejected, step)),
        }
        self.step = step;
        if let Some(finished) = result.take() {
            self.spares.give_back(finished.into_writes());
        }
        *task = Task { node: next, packet: None };
        *attempts = 0;
        Ok(true)
    }

    /// Returns the error for the rejected update of a superstep's only task. The task runs again.
    #[cold]
    #[inline(never)]
    fn rejected_alone(&mut self, rejected: Rejection, step: u64) -> Error {
        let kind =
            rejection(self.graph.state, &self.graph.names, step, &self.tasks, &mut self.results, rejected);
        // Folding has consumed the task's writes.
        self.results.fill_with(|| None);
        self.error(kind)
    }

    /// Ends a run whose nodes have returned commands for the parent graph. The commands are stored with this
    /// superstep's checkpoint until they are part of the parent task's result.
    #[cold]
    #[inline(never)]
    fn end_with_commands(&mut self, step: u64, changes: Option<Vec<FieldChange>>) -> Result<(), Error> {
        let is_subgraph = !self.ctx.shared.parent_run.path.is_empty();
        let records = if changes.is_some() && is_subgraph { self.command_records(step)? } else { Vec::new() };
        let parent_commands =
            self.results.iter_mut().flatten().filter_map(|finished| match &mut finished.leave {
                Leave::ErasedParentCommand(command) => Some((**command).clone()),
                _ => None,
            });
        self.parent_commands = parent_commands.collect();
        self.progress = Progress::new(&self.graph.topology);
        self.take_plan();
        if !is_subgraph {
            self.parent_commands.clear();
            return Err(self.error(ErrorKind::NoParentGraph { step }));
        }
        match changes {
            None => Ok(()),
            Some(changes) => self.last_checkpoint(changes, records),
        }
    }

    /// Returns the field changes of the superstep's checkpoint; `None` for a run in memory.
    fn changes(&mut self, step: u64, cleared: &[usize]) -> Result<Option<Vec<FieldChange>>, Error> {
        let Some(persist) = &mut self.persist else { return Ok(None) };
        match persist.changes(&*self.state, &self.results, self.write_set.touched(), cleared) {
            Ok(changes) => Ok(Some(changes)),
            Err((field, source)) => {
                if let Some(state) = own(&mut self.state) {
                    self.undos.roll_back(state);
                }
                let wrote = |finished: &Finished| {
                    let encoded = finished.encoded.iter().flat_map(|encoded| &encoded.writes);
                    self.results.len() == 1 || encoded.into_iter().any(|write| write.field == field)
                };
                let writers = self.tasks.iter().zip(&self.results);
                let writers = writers.filter(|(_, result)| result.as_ref().is_some_and(wrote));
                let nodes = writers.map(|(task, _)| self.graph.node_name(task.node).to_owned()).collect();
                // Folding has consumed the writes, so the tasks run again.
                self.results.fill_with(|| None);
                Err(self.error(ErrorKind::NotStorable { nodes, step, source }))
            }
        }
    }

    /// Applies the update of a single task. Its route function sees the state after the update, which is not written
    /// a second time.
    fn apply_one(&mut self, step: u64) -> Result<(), Error> {
        let Some(state) = own(&mut self.state) else { return Err(self.error(NOT_OWNED)) };
        if let Err(rejected) = fold(state, &mut self.results, &mut self.write_set, &mut self.undos) {
            return Err(self.rejected_alone(rejected, step));
        }
        if let ([task], [Some(finished)]) = (self.tasks.as_slice(), self.results.as_mut_slice())
            && matches!(finished.leave, Leave::ByEdges)
            && let Some(decide) = decider(&self.graph, task.node)
        {
            let attempt = self.attempts.first().copied().unwrap_or(1);
            self.ctx.at.move_to(At { node: task.node, attempt, ..self.ctx.at.get() });
            match call_route(decide, ErasedSource { state, packet: task.packet.as_ref(), ctx: &*self.ctx }) {
                Ok(leave) => finished.leave = leave,
                Err(failed) => {
                    self.undos.roll_back(state);
                    let name = self.graph.node_name(task.node);
                    let first = failed.into_failure(name, step, attempt).of(0, task.packet.as_ref());
                    self.results.fill_with(|| None);
                    return Err(self.error(ErrorKind::Node { first: Box::new(first), others: Vec::new() }));
                }
            }
        }
        Ok(())
    }

    /// Applies the updates of several tasks, or of one task if the state has ephemeral fields.
    fn apply_many(&mut self, step: u64) -> Result<Vec<usize>, Error> {
        let Some(state) = own(&mut self.state) else { return Err(self.error(NOT_OWNED)) };
        match call_routes(
            &self.graph,
            state,
            &*self.ctx,
            &self.tasks,
            &self.attempts,
            &mut self.results,
            &mut self.write_set,
        ) {
            Ok(()) => {}
            Err(Unrouted::Failed(failures)) => self.fail(failures)?,
            Err(Unrouted::Rules(kind)) => return Err(self.error(kind)),
        }
        let Some(state) = own(&mut self.state) else { return Err(self.error(NOT_OWNED)) };
        let cleared: Vec<usize> = self.ephemerals.due(step, &self.progress).collect();
        for &field in &cleared {
            self.undos.clear_field(state, field);
        }
        // Folding consumes the writes. A rejected superstep keeps this copy.
        let kept = self.graph.state.fallible.then(|| self.results.clone());
        if let Err(rejected) = fold(state, &mut self.results, &mut self.write_set, &mut self.undos) {
            match kept {
                Some(kept) => self.results = kept,
                None if matches!(rejected, Rejection::WriteConflict(_)) => {}
                // A fold that declares itself infallible has failed. The folded writes are consumed, so all tasks run
                // again.
                None => self.results.fill_with(|| None),
            }
            let kind = rejection(
                self.graph.state,
                &self.graph.names,
                step,
                &self.tasks,
                &mut self.results,
                rejected,
            );
            return Err(self.error(kind));
        }
        Ok(cleared)
    }
}

/// Returns the writes of the superstep's tasks, in application order.
fn written(results: &[Option<Finished>]) -> Vec<TaskWrites> {
    results.iter().flatten().map(|finished| finished.writes.clone()).collect()
}
