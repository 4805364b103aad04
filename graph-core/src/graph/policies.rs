use std::collections::{HashMap, HashSet};

use crate::error::WiringProblem;
use crate::node::NodeRef;
use crate::policy::{Policy, ResolvedPolicy};

use super::handler::DraftHandler;
use super::node_cache::{DraftCache, NodeCache};
use super::{Draft, Handler};

/// The policies, error handlers and cache policies in a draft.
pub(super) struct Policies {
    pub(super) default: Policy,
    pub(super) of_nodes: Vec<(NodeRef, Policy)>,
    pub(super) default_handler: Option<DraftHandler>,
    /// For each node its error handler, or `None` after `no_on_error`.
    pub(super) handlers: Vec<(NodeRef, Option<DraftHandler>)>,
    pub(super) caches: Vec<(NodeRef, DraftCache)>,
}

/// The policy of a compiled node.
pub(crate) struct NodePolicy {
    pub(crate) limits: ResolvedPolicy,
    pub(crate) handler: Option<Handler>,
    pub(crate) cache: Option<NodeCache>,
}

impl Default for Policies {
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

impl Policies {
    /// Returns the policy of each node, or `None` for a node without one.
    pub(super) fn settle(
        &self,
        indices: &HashMap<NodeRef, usize>,
        handlers: Vec<Option<Handler>>,
        caches: Vec<Option<NodeCache>>,
    ) -> Vec<Option<Box<NodePolicy>>> {
        let default = || Policy::new().or(&self.default);
        let policy = |(handler, cache)| NodePolicy { limits: default(), handler, cache };
        let mut policies: Vec<_> = handlers.into_iter().zip(caches).map(policy).collect();
        for (node, own) in &self.of_nodes {
            if let Some(policy) = indices.get(node).and_then(|&index| policies.get_mut(index)) {
                policy.limits = own.or(&self.default);
            }
        }
        let anything = |policy: &NodePolicy| {
            !policy.limits.is_empty() || policy.handler.is_some() || policy.cache.is_some()
        };
        policies.into_iter().map(|policy| anything(&policy).then(|| Box::new(policy))).collect()
    }
}

impl Draft {
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
