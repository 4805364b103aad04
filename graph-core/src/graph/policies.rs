use std::collections::{HashMap, HashSet};

use crate::error::WiringProblem;
use crate::node::NodeRef;
use crate::policy::{Policy, ResolvedPolicy};
use crate::state::GraphState;

use super::handler::DraftHandler;
use super::node_cache::{DraftCache, NodeCache};
use super::{Draft, Handler};

/// The policies, error handlers and cache policies in a draft.
pub(super) struct Policies<S, D> {
    pub(super) default: Policy,
    pub(super) of_nodes: Vec<(NodeRef, Policy)>,
    pub(super) default_handler: Option<DraftHandler<S, D>>,
    /// For each node its error handler, or `None` after `no_on_error`.
    pub(super) handlers: Vec<(NodeRef, Option<DraftHandler<S, D>>)>,
    pub(super) caches: Vec<(NodeRef, DraftCache<S, D>)>,
}

/// The policy of a compiled node.
pub(crate) struct NodePolicy<S, D> {
    pub(crate) limits: ResolvedPolicy,
    pub(crate) handler: Option<Handler<S, D>>,
    pub(crate) cache: Option<NodeCache<S, D>>,
}

impl<S, D> Default for Policies<S, D> {
    fn default() -> Self {
        Self {
            default: Policy::new(),
            of_nodes: Vec::new(),
            default_handler: None,
            handlers: Vec::new(),
            caches: Vec::new(),
        }
    }
}

impl<S, D> Policies<S, D> {
    /// Returns the policy of each node, or `None` for a node without one.
    pub(super) fn settle(
        &self,
        indices: &HashMap<NodeRef, usize>,
        handlers: Vec<Option<Handler<S, D>>>,
        caches: Vec<Option<NodeCache<S, D>>>,
    ) -> Vec<Option<Box<NodePolicy<S, D>>>> {
        let default = || Policy::new().or(&self.default);
        let policy = |(handler, cache)| NodePolicy { limits: default(), handler, cache };
        let mut policies: Vec<_> = handlers.into_iter().zip(caches).map(policy).collect();
        for (node, own) in &self.of_nodes {
            if let Some(policy) = indices.get(node).and_then(|&index| policies.get_mut(index)) {
                policy.limits = own.or(&self.default);
            }
        }
        let anything = |policy: &NodePolicy<S, D>| {
            !policy.limits.is_empty() || policy.handler.is_some() || policy.cache.is_some()
        };
        policies.into_iter().map(|policy| anything(&policy).then(|| Box::new(policy))).collect()
    }
}

impl<S: GraphState, D: Send + Sync + 'static> Draft<S, D> {
    pub(super) fn check_policies(&mut self) {
        for what in self.policies.default.problems() {
            self.report(WiringProblem::InvalidPolicy { of: "all nodes".to_owned(), what });
        }
        let mut seen = HashSet::new();
        for (node, policy) in self.policies.of_nodes.clone() {
            let name = node.name().to_owned();
            for what in policy.problems() {
                self.report(WiringProblem::InvalidPolicy { of: format!("node `{name}`"), what });
            }
            if !self.indices.contains_key(&node) {
                self.unknown(&node, "given a policy");
            } else if !seen.insert(node) {
                self.report(WiringProblem::DuplicatePolicy { node: name });
            }
        }
    }
}
