use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::engine::{Compiled, CompiledNode, Handler, KeptStates, NodeCache};
use crate::erased::PacketType;
use crate::error::{Error, ErrorKind, WiringProblem};
use crate::options::Breakpoints;
use crate::plan::{ExitPlan, Join, NodePlan, Target, Topology};
use crate::step::{Exit, NodeRef};

use super::Draft;
use super::reach::reachable;

impl Draft {
    /// Builds the graph, or returns all mistakes in its wiring.
    pub(super) fn compile(mut self) -> Result<Compiled, Error> {
        if self.nodes.is_empty() && self.problems.is_empty() {
            self.problems.push(WiringProblem::Empty);
            return Err(self.refuse());
        }
        let mut topology = Topology {
            nodes: self.nodes.iter().map(|_| NodePlan::default()).collect(),
            ..Topology::default()
        };
        self.wire_edges(&mut topology);
        self.wire_joins(&mut topology);
        self.wire_routes(&mut topology);
        self.wire_parent_commands(&mut topology);
        self.wire_flags(&mut topology);
        self.check_policies();
        let handlers = self.wire_handlers(&mut topology);
        let caches = self.wire_caches(&topology);
        let kept_states = self.wire_kept_states();
        self.check_exits(&topology);
        self.check_reach(&topology);
        self.check_fields();
        self.check_writes(&topology);
        if !self.problems.is_empty() {
            return Err(self.refuse());
        }
        Ok(self.finish(topology, handlers, caches, kept_states))
    }

    fn refuse(self) -> Error {
        Error::new(&self.name, ErrorKind::Wiring(self.problems))
    }

    fn finish(
        self,
        topology: Topology,
        handlers: Vec<Option<Handler>>,
        caches: Vec<Option<NodeCache>>,
        kept_states: KeptStates,
    ) -> Compiled {
        let writes = self.run_writes(&topology, &handlers);
        let (mut start, mut decides) = (None, Vec::new());
        for (from, _, decide) in self.routes {
            match self.indices.get(&from) {
                Some(&node) => decides.push((node, decide)),
                None => start = Some(decide),
            }
        }
        let aliases = self
            .aliases
            .iter()
            .filter_map(|(node, alias)| self.indices.get(node).map(|&node| (alias.clone(), node)));
        let aliases: Vec<(String, usize)> = aliases.collect();
        let indices_of =
            |nodes: &[NodeRef]| nodes.iter().filter_map(|node| self.indices.get(node).copied()).collect();
        let breakpoints = Breakpoints {
            before: indices_of(&self.breakpoints.before),
            after: indices_of(&self.breakpoints.after),
        };
        let parent_commands =
            self.nodes.iter().flat_map(|node| node.parent_commands.iter().cloned()).collect();
        let names: Vec<Arc<str>> = self.nodes.iter().map(|node| Arc::from(node.name.as_str())).collect();
        let is_cached = caches.iter().any(Option::is_some);
        let policies = self.policies.resolve(&self.indices, handlers, caches);
        let mut nodes: Vec<_> = self
            .nodes
            .into_iter()
            .zip(policies)
            .map(|(node, policy)| CompiledNode {
                run: node.run,
                packet: node.packet,
                decide: None,
                chain: None,
                exit_chains: Vec::new(),
                read_packet: None,
                policy,
            })
            .collect();
        for (node, decide) in decides {
            if let Some(node) = nodes.get_mut(node) {
                node.decide = Some(decide);
            }
        }
        let is_ephemeral = |&index: &usize| self.state.field(index).is_some_and(|field| field.ephemeral);
        let ephemeral: Vec<usize> = (0..self.state.fields).filter(is_ephemeral).collect();
        // In the order of the nodes, because that is the order in which they were wired.
        let mut command_exits = self.command_exits.iter().peekable();
        for (index, node) in nodes.iter_mut().enumerate() {
            let exits = std::iter::from_fn(|| command_exits.next_if(|(at, ..)| *at == index));
            let exits = exits.map(|(_, route, exits)| (*route, *exits)).collect();
            if let Some(subgraph) = node.run.as_subgraph() {
                subgraph.set_command_exits(exits);
            }
            if ephemeral.is_empty() {
                node.chain = topology.only_successor(index).filter(|_| node.decide.is_none());
                node.exit_chains = topology.only_targets(index);
            }
        }
        let plans = std::iter::once(&topology.start).chain(&topology.nodes);
        for exit in plans.flat_map(|plan| plan.exits.iter().chain(&plan.handler_exits)) {
            let Some(read) = exit.packet.and_then(|packet| packet.read()) else { continue };
            for target in &exit.to {
                if let Target::Node(to) = target
                    && let Some(node) = nodes.get_mut(*to)
                {
                    node.read_packet = Some(read);
                }
            }
        }
        let indices = self.indices;
        let mut by_name: HashMap<Arc<str>, usize> = HashMap::new();
        let now = names.iter().cloned().zip(0..);
        for (name, node) in now.chain(aliases.iter().map(|(alias, node)| (Arc::from(alias.as_str()), *node)))
        {
            by_name.entry(name).or_insert(node);
        }
        Compiled {
            state: self.state,
            name: self.name,
            nodes,
            names: names.into(),
            aliases,
            by_name,
            start,
            topology,
            indices,
            ephemeral,
            anywhere: self.anywhere,
            breakpoints,
            failure_mode: self.failure_mode,
            parent_commands,
            is_cached,
            kept_states,
            writes,
            spares: Arc::default(),
        }
    }

    fn target(&self, node_ref: &NodeRef) -> Option<Target> {
        match node_ref {
            NodeRef::End => Some(Target::End),
            // A name also finds functions, and nodes by their aliases.
            NodeRef::Named(name) => self.named(name).map(Target::Node),
            node_ref => self.indices.get(node_ref).map(|&node| Target::Node(node)),
        }
    }

    fn named(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied().or_else(|| {
            let (node, _) = self.aliases.iter().find(|(_, alias)| alias == name)?;
            self.indices.get(node).copied()
        })
    }

    fn wire_edges(&self, topology: &mut Topology) {
        for (from, to) in &self.edges {
            let Some(to) = self.target(to) else { continue };
            if let Some(plan) = plan_of(topology, self.indices.get(from)) {
                plan.edges.push(to);
            }
        }
    }

    fn wire_joins(&self, topology: &mut Topology) {
        for join in &self.joins {
            let mut sources = Vec::new();
            for source in &join.sources {
                match self.indices.get(source) {
                    Some(source) if !sources.contains(source) => sources.push(*source),
                    _ => {}
                }
            }
            for target in &join.targets {
                let Some(target) = self.target(target) else { continue };
                let index = topology.joins.len();
                for (position, &source) in sources.iter().enumerate() {
                    if let Some(plan) = topology.nodes.get_mut(source) {
                        plan.joins.push((index, position));
                    }
                }
                topology.joins.push(Join { sources: sources.clone(), target, optional: join.optional });
            }
        }
    }

    fn wire_routes(&mut self, topology: &mut Topology) {
        let mut routes: Vec<(Option<usize>, String, Vec<Exit>)> = Vec::new();
        for (index, node) in self.nodes.iter().enumerate() {
            if let Some(exits) = &node.exits {
                routes.push((Some(index), node.name.clone(), exits.clone()));
            }
        }
        for (from, exits, _) in &self.routes {
            routes.push((self.indices.get(from).copied(), from.name().to_owned(), exits.clone()));
        }
        for (from, name, exits) in routes {
            let plans = exits.iter().map(|exit| self.exit_plan(&name, exit)).collect();
            let Some(plan) = plan_of(topology, from.as_ref()) else { continue };
            if exits.is_empty() {
                self.report(WiringProblem::RouteWithoutExits { node: name });
            } else if !plan.exits.is_empty() {
                self.report(WiringProblem::DuplicateRoute { node: name });
            } else {
                plan.exits = plans;
            }
        }
    }

    /// Adds the exits of the parent commands that subgraphs can return to the exits of their nodes.
    fn wire_parent_commands(&mut self, topology: &mut Topology) {
        for index in 0..self.nodes.len() {
            let Some(node) = self.nodes.get(index) else { continue };
            let (name, commands) = (node.name.clone(), node.received_commands.clone());
            for command in commands {
                if command.state.id != self.state.id {
                    let (parent_commands, expected) =
                        (command.state.name.to_owned(), self.state.name.to_owned());
                    self.report(WiringProblem::ParentStateMismatch {
                        node: name.clone(),
                        parent_commands,
                        expected,
                    });
                    continue;
                }
                let plans: Vec<_> = command.exits.iter().map(|exit| self.exit_plan(&name, exit)).collect();
                let Some(plan) = topology.nodes.get_mut(index) else { continue };
                let known = &mut self.command_exits;
                let mut of_node = known.iter().rev().take_while(|(node, ..)| *node == index);
                if !of_node.any(|(_, route, _)| *route == command.route) {
                    known.push((index, command.route, plan.exits.len()));
                    plan.exits.extend(plans);
                }
            }
        }
    }

    pub(super) fn exit_plan(&mut self, from: &str, exit: &Exit) -> ExitPlan {
        let mut to = Vec::new();
        for (node_ref, states) in exit.to.iter().zip(&exit.states) {
            match self.target(node_ref) {
                Some(target) => to.push(target),
                None => self.unknown_destination(from, exit.label, node_ref, *states),
            }
        }
        for &target in &to {
            self.check_packet(from, exit, target);
        }
        ExitPlan { label: exit.label, to, packet: exit.packet }
    }

    /// Checks packets for nodes that are found by name; the derive has checked the others.
    fn check_packet(&mut self, from: &str, exit: &Exit, to: Target) {
        let (name, reads) = match to {
            Target::End => ("END", None),
            Target::Node(node) => match self.nodes.get(node) {
                Some(node) => (node.name.as_str(), node.packet),
                None => return,
            },
        };
        let problem = match (exit.packet, reads) {
            (Some(sent), reads) if reads != Some(sent) => WiringProblem::PacketNotRead {
                from: from.to_owned(),
                exit: exit.label.to_owned(),
                node: name.to_owned(),
                packet: sent.name().to_owned(),
            },
            (None, Some(reads)) => packet_missing(name, reads, from, exit),
            _ => return,
        };
        self.report(problem);
    }

    fn wire_flags(&mut self, topology: &mut Topology) {
        for node in std::mem::take(&mut self.deferred) {
            match self.indices.get(&node).and_then(|&node| topology.nodes.get_mut(node)) {
                Some(plan) => plan.deferred = true,
                None => self.unknown(&node, "deferred"),
            }
        }
        for breakpoint in [self.breakpoints.before.clone(), self.breakpoints.after.clone()].concat() {
            if !self.indices.contains_key(&breakpoint) {
                self.unknown(&breakpoint, "a breakpoint");
            }
        }
        let mut names: HashSet<String> = self.nodes.iter().map(|node| node.name.clone()).collect();
        for (node, alias) in self.aliases.clone() {
            if !self.indices.contains_key(&node) {
                self.unknown(&node, "given an alias");
            } else if !names.insert(alias.clone()) {
                self.report(WiringProblem::DuplicateName { name: alias });
            }
        }
    }

    pub(super) fn unknown(&mut self, node: &NodeRef, what: &'static str) {
        self.report(WiringProblem::UnknownNode { node: node.name().to_owned(), what });
    }

    fn check_exits(&mut self, topology: &Topology) {
        let routed: HashSet<usize> =
            self.routes.iter().filter_map(|(from, ..)| self.indices.get(from).copied()).collect();
        for (index, plan) in topology.nodes.iter().enumerate() {
            let Some(node) = self.nodes.get(index) else { continue };
            // A route counts even if all its destinations are unknown.
            let routed = node.exits.is_some() || routed.contains(&index);
            let edged = !plan.edges.is_empty() || !plan.joins.is_empty();
            let node = node.name.clone();
            match (edged, routed) {
                (true, true) => self.report(WiringProblem::EdgeAndRoute { node }),
                (false, false) => self.report(WiringProblem::DeadEnd { node }),
                _ => {}
            }
        }
        let start_routed = self.routes.iter().any(|(from, ..)| *from == NodeRef::Start);
        match (!topology.start.edges.is_empty(), start_routed) {
            (true, true) => self.report(WiringProblem::EdgeAndRoute { node: "START".to_owned() }),
            (false, false) => self.report(WiringProblem::NoStart),
            _ => {}
        }
    }

    /// Finds duplicate JSON names. The derive cannot see the fields of a flattened state.
    fn check_fields(&mut self) {
        let mut seen = std::collections::HashSet::new();
        for field in (0..self.state.fields).filter_map(self.state.field) {
            if !seen.insert(field.name) {
                self.report(WiringProblem::DuplicateField { name: field.name.to_owned() });
            }
        }
    }

    fn check_reach(&mut self, topology: &Topology) {
        if self.problems.contains(&WiringProblem::NoStart) {
            return;
        }
        let name = |node: &usize| self.nodes.get(*node).map_or(String::new(), |node| node.name.clone());
        let (certain, possible) = (reachable(topology, true), reachable(topology, false));
        let mut problems = Vec::new();
        for join in &topology.joins {
            let missing: Vec<String> = join
                .sources
                .iter()
                .filter(|&&source| !certain.get(source).copied().unwrap_or(false))
                .map(name)
                .collect();
            if !missing.is_empty() {
                let target = match join.target {
                    Target::Node(node) => name(&node),
                    Target::End => "END".to_owned(),
                };
                problems.push(WiringProblem::JoinNeverFills { target, missing });
            }
        }
        for (node, _) in possible.iter().enumerate().filter(|&(_, &reached)| !reached) {
            problems.push(WiringProblem::Unreachable { node: name(&node) });
        }
        problems.into_iter().for_each(|problem| self.report(problem));
    }
}

/// Returns the plan of a node, or that of START for `None`.
fn plan_of<'t>(topology: &'t mut Topology, node: Option<&usize>) -> Option<&'t mut NodePlan> {
    match node {
        Some(&node) => topology.nodes.get_mut(node),
        None => Some(&mut topology.start),
    }
}

fn packet_missing(node: &str, packet: PacketType, from: &str, exit: &Exit) -> WiringProblem {
    WiringProblem::PacketMissing {
        node: node.to_owned(),
        packet: packet.name().to_owned(),
        by: format!("the exit `{}` of node `{from}`", exit.label),
    }
}
