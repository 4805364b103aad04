use crate::node::{Choice, Leave, Packet};

use super::{NodePlan, Progress, Target, Task, Topology};

/// Plans what follows superstep `step`, whose tasks left as `departures` says, in application order.
///
/// `None` as the node stands for START. The tasks are left in `progress`: those planned by edges, routes and joins in
/// registration order, each node once; behind them one for each packet, in the order in which they were sent.
pub(crate) fn plan<'l>(
    topology: &Topology,
    progress: &mut Progress,
    step: u64,
    departures: impl Iterator<Item = (Option<usize>, &'l Leave)>,
) {
    progress.tasks.clear();
    let mut sent = Vec::new();
    for (node, leave) in departures {
        let from = match node {
            None => &topology.start,
            Some(node) => match topology.nodes.get(node) {
                Some(from) => from,
                None => continue,
            },
        };
        match leave {
            // It ends with this superstep: what follows in it does not run.
            Leave::Outward(_) => continue,
            Leave::ByEdges => from.edges.iter().for_each(|&to| progress.go(to)),
            Leave::By(choice) => progress.choose(from, choice, &mut sent),
            Leave::ByAll(choices) => {
                choices.iter().for_each(|choice| progress.choose(from, choice, &mut sent));
            }
        }
        if from.rescues.is_empty() || !from.is_rescued(leave) {
            progress.arrive(topology, from);
        }
    }
    progress.settle_marks();
    progress.tasks.append(&mut sent);
    progress.defer(topology, step);
}

impl Progress {
    /// Plans a node that an edge leads to, once.
    fn go(&mut self, to: Target) {
        let Target::Node(node) = to else { return };
        if let Some(marked) = self.marked.get_mut(node)
            && !std::mem::replace(marked, true)
        {
            self.tasks.push(Task { node, packet: None });
        }
    }

    fn choose(&mut self, from: &NodePlan, choice: &Choice, sent: &mut Vec<Task>) {
        let Some(exit) = from.exit(choice.exit) else { return };
        for &to in &exit.to {
            match (to, &choice.packet) {
                (Target::Node(node), Some(packet)) => {
                    sent.push(Task { node, packet: Some(Packet::clone(packet)) });
                }
                (to, _) => self.go(to),
            }
        }
    }

    /// Notes that a node has finished in the joins that wait for it; a join that is full plans its target.
    fn arrive(&mut self, topology: &Topology, from: &NodePlan) {
        for &(join, place) in &from.joins {
            let Some(arrived) = self.joins.get_mut(join) else { continue };
            if let Some(arrived) = arrived.get_mut(place) {
                *arrived = true;
            }
            if arrived.iter().all(|&arrived| arrived) {
                // Cleared only after the last departure: a source that ran twice in this superstep is one arrival.
                if let Some(join) = topology.joins.get(join) {
                    self.go(join.target);
                }
            }
        }
    }

    /// Brings the tasks that edges planned into registration order, and clears full joins.
    fn settle_marks(&mut self) {
        if self.tasks.len() > 1 {
            self.tasks.sort_unstable_by_key(|task| task.node);
        }
        for task in &self.tasks {
            if let Some(marked) = self.marked.get_mut(task.node) {
                *marked = false;
            }
        }
        for arrived in &mut self.joins {
            if arrived.iter().all(|&arrived| arrived) {
                arrived.fill(false);
            }
        }
    }

    /// Takes deferred tasks out, and puts those that wait back in when there is nothing else.
    fn defer(&mut self, topology: &Topology, step: u64) {
        let deferred = |task: &Task| topology.nodes.get(task.node).is_some_and(|node| node.deferred);
        if self.tasks.iter().any(deferred) {
            self.deferred_by = Some(step);
            let waiting = &mut self.waiting;
            self.tasks.retain(|task| {
                let wait = deferred(task);
                // Planned twice by edges while it waits, it still runs once.
                if wait && (task.packet.is_some() || !waiting.iter().any(|other| other.is_same(task))) {
                    waiting.push(task.clone());
                }
                !wait
            });
        }
        if self.tasks.is_empty() && !self.waiting.is_empty() {
            self.tasks.append(&mut self.waiting);
            // Edge tasks first, in registration order; packets behind them as sent (the sort is stable).
            self.tasks
                .sort_by_key(|task| (task.packet.is_some(), task.packet.is_none().then_some(task.node)));
        }
    }
}

impl Task {
    /// The same node, planned by an edge both times.
    fn is_same(&self, other: &Self) -> bool {
        self.node == other.node && self.packet.is_none() && other.packet.is_none()
    }
}
