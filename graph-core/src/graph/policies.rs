//! The policies of a draft.

use std::collections::HashMap;
use std::time::Duration;

use crate::engine::{Handler, KeyFn, NodeCache, NodePolicy};
use crate::erased::PacketType;
use crate::policy::Policy;
use crate::step::NodeRef;

use super::draft_handler::DraftHandler;

/// A cache policy in a draft.
pub(crate) struct DraftCache {
    pub(crate) key: KeyFn,
    /// The packet that the key function reads.
    pub(crate) packet: Option<PacketType>,
    pub(crate) ttl: Option<Duration>,
}

/// The policies, error handlers and cache policies in a draft.
pub(crate) struct Policies {
    pub(crate) default: Policy,
    pub(crate) of_nodes: Vec<(NodeRef, Policy)>,
    pub(crate) default_handler: Option<DraftHandler>,
    /// For each node its error handler, or `None` after `no_on_error`.
    pub(crate) handlers: Vec<(NodeRef, Option<DraftHandler>)>,
    pub(crate) caches: Vec<(NodeRef, DraftCache)>,
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
    pub(crate) fn resolve(
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
