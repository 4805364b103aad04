use crate::step::{Choice, Leave};

use super::{NodePlan, Progress, Target, Task, Topology};

/// Plans the superstep after `step`. `departures` are its tasks in application order, with the way each one left. Their
/// packets move to the planned tasks.
///
/// A node of `None` stands for START. The tasks are stored in `progress`: first those planned by edges, routes and joins
/// in registration order, each node once; then one task for each packet, in the order in which they were sent.
///
/// Returns `true` if a node has returned a command for the parent graph, which ends the run.
pub(crate) fn plan<'l>(
    topology: &Topology,
    progress: &mut Progress,
    step: u64,
    departures: impl Iterator<Item = (Option<usize>, &'l mut Leave)>,
) -> bool {
    progress.tasks.clear();
    let (mut sent, mut ends) = (Vec::new(), false);
    for (node, leave) in departures {
        let from = match node {
            None => &topology.start,
            Some(node) => match topology.nodes.get(node) {
                Some(from) => from,
                None => continue,
            },
        };
        match leave {
            // The subgraph ends with this superstep, so the nodes after this one do not run.
            Leave::ErasedParentCommand(_) => {
                ends = true;
                continue;
            }
            Leave::ByEdges => from.edges.iter().for_each(|&to| progress.plan_target(to)),
            Leave::By(choice) => progress.follow(from, choice, &mut sent),
            Leave::ByAll(choices) => {
                sent.reserve(choices.len());
                choices.iter_mut().for_each(|choice| progress.follow(from, choice, &mut sent));
            }
        }
        if from.handler_exits.is_empty() || !from.left_by_handler(leave) {
            progress.record_arrival(from);
        }
    }
    progress.leave_joins(topology);
    progress.finish_edge_tasks();
    if progress.tasks.is_empty() {
        progress.tasks = sent;
    } else {
        progress.tasks.append(&mut sent);
    }
    progress.defer(topology, step);
    ends
}

impl Progress {
    /// Plans the target of an edge, once.
    fn plan_target(&mut self, to: Target) {
        let Target::Node(node) = to else { return };
        if let Some(planned) = self.planned.get_mut(node)
            && !std::mem::replace(planned, true)
        {
            self.tasks.push(Task { node, packet: None });
        }
    }

    fn follow(&mut self, from: &NodePlan, choice: &mut Choice, sent: &mut Vec<Task>) {
        let Some(exit) = from.exit(choice.exit) else { return };
        let last = exit.to.len().saturating_sub(1);
        for (nth, &to) in exit.to.iter().enumerate() {
            match to {
                Target::Node(node) if choice.packet.is_some() => {
                    let packet = if nth == last { choice.packet.take() } else { choice.packet.clone() };
                    sent.push(Task { node, packet });
                }
                to => self.plan_target(to),
            }
        }
    }

    /// Records a finished node in the joins that wait for it.
    fn record_arrival(&mut self, from: &NodePlan) {
        for &(join, place) in &from.joins {
            self.arrive(join, place);
        }
    }

    /// Plans the targets of complete joins, and clears these joins.
    ///
    /// This happens after the last departure, so that a source that ran twice in this superstep is one arrival.
    fn leave_joins(&mut self, topology: &Topology) {
        while let Some(index) = self.filled.pop() {
            self.leave_join(index);
            if let Some(join) = topology.joins.get(index) {
                self.plan_target(join.target);
            }
        }
    }

    /// Sorts the tasks that edges planned into registration order.
    fn finish_edge_tasks(&mut self) {
        if self.tasks.len() > 1 {
            self.tasks.sort_unstable_by_key(|task| task.node);
        }
        for task in &self.tasks {
            if let Some(planned) = self.planned.get_mut(task.node) {
                *planned = false;
            }
        }
    }

    /// Moves deferred tasks to the waiting ones, and plans the waiting ones if no other task is left.
    fn defer(&mut self, topology: &Topology, step: u64) {
        let deferred = |task: &Task| topology.nodes.get(task.node).is_some_and(|node| node.deferred);
        if self.tasks.iter().any(deferred) {
            self.deferred_by = Some(step);
            let waiting = &mut self.waiting;
            self.tasks.retain(|task| {
                let wait = deferred(task);
                // A node that edges plan twice while it waits still runs once.
                if wait && (task.packet.is_some() || !waiting.iter().any(|other| other.is_same(task))) {
                    waiting.push(task.clone());
                }
                !wait
            });
        }
        if self.tasks.is_empty() && !self.waiting.is_empty() {
            self.tasks.append(&mut self.waiting);
            // Edge tasks first, in registration order; then packets as sent (the sort is stable).
            self.tasks
                .sort_by_key(|task| (task.packet.is_some(), task.packet.is_none().then_some(task.node)));
        }
    }
}

impl Task {
    /// Returns `true` if both tasks are of the same node and planned by an edge.
    fn is_same(&self, other: &Self) -> bool {
        self.node == other.node && self.packet.is_none() && other.packet.is_none()
    }
}
