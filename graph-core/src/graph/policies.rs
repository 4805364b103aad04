use std::collections::HashMap;

use crate::error::WiringProblem;
use crate::node::NodeRef;
use crate::policy::{Policy, Settled};
use crate::state::GraphState;

use super::Draft;

/// What was said of nodes that fail or take too long.
#[derive(Default)]
pub(super) struct Policies {
    pub(super) default: Policy,
    pub(super) of_nodes: Vec<(NodeRef, Policy)>,
}

impl Policies {
    /// What is to be done for each node; nothing where there is nothing to do.
    pub(super) fn settle(&self, places: &HashMap<NodeRef, usize>, nodes: usize) -> Vec<Option<Box<Settled>>> {
        let mut settled: Vec<Settled> = vec![Policy::new().or(&self.default); nodes];
        for (node, policy) in &self.of_nodes {
            if let Some(of_node) = places.get(node).and_then(|&place| settled.get_mut(place)) {
                *of_node = policy.or(&self.default);
            }
        }
        settled.into_iter().map(|policy| (!policy.is_nothing()).then(|| Box::new(policy))).collect()
    }
}

impl<S: GraphState, D: Send + Sync + 'static> Draft<S, D> {
    pub(super) fn check_policies(&mut self) {
        for what in self.policies.default.mistakes() {
            self.report(WiringProblem::Policy { of: "all nodes".to_owned(), what });
        }
        let mut seen = Vec::new();
        for (node, policy) in self.policies.of_nodes.clone() {
            let name = node.name().to_owned();
            for what in policy.mistakes() {
                self.report(WiringProblem::Policy { of: format!("node `{name}`"), what });
            }
            if !self.places.contains_key(&node) {
                self.unknown(&node, "given a policy");
            } else if seen.contains(&node) {
                self.report(WiringProblem::TwoPolicies { node: name });
            } else {
                seen.push(node);
            }
        }
    }
}
