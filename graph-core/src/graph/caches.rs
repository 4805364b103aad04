//! The cache policies of a draft.

use std::sync::Arc;

use crate::engine::NodeCache;
use crate::erased::StateType;
use crate::error::WiringProblem;
use crate::plan::Topology;
use crate::step::NodeRef;
use crate::store::Ttl;

use super::draft::Draft;
use super::policies::DraftCache;

impl Draft {
    /// The cache policy of each node.
    pub(crate) fn wire_caches(&mut self, topology: &Topology) -> Vec<Option<NodeCache>> {
        let mut policies: Vec<_> = self.nodes.iter().map(|_| None).collect();
        for (node, cache) in std::mem::take(&mut self.policies.caches) {
            let Some(&index) = self.indices.get(&node) else {
                self.unknown(&node, "given a cache policy");
                continue;
            };
            self.check_cache(&node, index, &cache);
            match policies.get_mut(index) {
                Some(slot @ None) => *slot = self.cache_policy(topology, index, cache),
                _ => self.report(WiringProblem::DuplicateCachePolicy { node: node.name().to_owned() }),
            }
        }
        policies
    }

    fn cache_policy(&self, topology: &Topology, index: usize, cache: DraftCache) -> Option<NodeCache> {
        let (node, plan) = (self.nodes.get(index)?, topology.nodes.get(index)?);
        Some(NodeCache {
            key: cache.key,
            ttl: cache.ttl.and_then(|ttl| Ttl::new(ttl).ok()),
            exits: if node.exits.is_some() { plan.exits.clone() } else { Vec::new() },
            graph: Arc::from(self.name.as_str()),
            node: Arc::from(node.name.as_str()),
            state: state_name(self.state),
        })
    }

    fn check_cache(&mut self, node: &NodeRef, index: usize, cache: &DraftCache) {
        let Some(draft) = self.nodes.get(index) else { return };
        let mut problems = Vec::new();
        let name = || node.name().to_owned();
        let mistakes = [
            cache.ttl.is_some_and(|ttl| ttl.as_millis() == 0).then_some(NO_TIME),
            cache.ttl.is_some_and(|ttl| ttl.as_millis() > 0 && Ttl::new(ttl).is_err()).then_some(TOO_LONG),
            draft.run.as_subgraph().map(|_| SUBGRAPH),
            (!draft.parent_commands.is_empty()).then_some(OUTWARD),
        ];
        for problem in mistakes.into_iter().flatten() {
            problems.push(WiringProblem::InvalidCachePolicy { node: name(), what: problem });
        }
        match (draft.packet, cache.packet) {
            (Some(sent), None) => {
                problems.push(WiringProblem::PacketNotInCacheKey {
                    node: name(),
                    packet: sent.name().to_owned(),
                });
            }
            (sent, Some(read)) if sent != Some(read) => {
                problems.push(WiringProblem::CacheKeyPacket { node: name(), packet: read.name().to_owned() });
            }
            _ => {}
        }
        problems.into_iter().for_each(|problem| self.report(problem));
    }
}

const NO_TIME: &str = "has a `ttl` of less than a millisecond: set a longer one, or remove the policy";
const TOO_LONG: &str = "has a `ttl` of more than a thousand years: leave `ttl` out to keep results for ever";
const SUBGRAPH: &str = "is for a subgraph, whose checkpoints and events a cached result would skip: cache nodes inside the subgraph";
const OUTWARD: &str = "is for a node that returns `ParentCommand`, which cannot be cached: remove the policy";

/// The state's name, its version and the versions of flattened states, as a JSON string.
fn state_name(state: &StateType) -> Arc<str> {
    // Writing strings and numbers as JSON cannot fail.
    serde_json::to_string(&(state.name, state.versions())).unwrap_or_default().into()
}
