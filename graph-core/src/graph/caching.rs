use std::sync::Arc;
use std::time::Duration;

use crate::engine::versions;
use crate::error::WiringProblem;
use crate::node::{KeyFn, NodeRef, PacketType};
use crate::plan::{ExitPlan, Topology};
use crate::state::GraphState;
use crate::store::Ttl;

use super::Draft;

/// What a draft keeps of a cache policy.
pub(super) struct DraftCache<S, D> {
    pub(super) key: KeyFn<S, D>,
    /// The packet that the key function reads.
    pub(super) packet: Option<PacketType>,
    pub(super) ttl: Option<Duration>,
}

/// By what the results of a node are cached, and for how long.
pub(crate) struct NodeCache<S, D> {
    pub(crate) key: KeyFn<S, D>,
    pub(crate) ttl: Option<Ttl>,
    /// The exits of the route that the node returns.
    pub(crate) exits: Vec<ExitPlan>,
    pub(crate) graph: Arc<str>,
    pub(crate) node: Arc<str>,
    /// The state and its version.
    pub(crate) state: Arc<str>,
}

impl<S: GraphState, D: Send + Sync + 'static> Draft<S, D> {
    /// The cache policy of each node.
    pub(super) fn wire_caches(&mut self, topology: &Topology) -> Vec<Option<NodeCache<S, D>>> {
        let mut policies: Vec<_> = self.nodes.iter().map(|_| None).collect();
        for (node, cache) in std::mem::take(&mut self.policies.caches) {
            let Some(&place) = self.places.get(&node) else {
                self.unknown(&node, "given a cache policy");
                continue;
            };
            self.check_cache(&node, place, &cache);
            match policies.get_mut(place) {
                Some(slot @ None) => *slot = self.cache_policy(topology, place, cache),
                _ => self.report(WiringProblem::TwoCaches { node: node.name().to_owned() }),
            }
        }
        policies
    }

    fn cache_policy(
        &self,
        topology: &Topology,
        place: usize,
        cache: DraftCache<S, D>,
    ) -> Option<NodeCache<S, D>> {
        let (node, plan) = (self.nodes.get(place)?, topology.nodes.get(place)?);
        Some(NodeCache {
            key: cache.key,
            ttl: cache.ttl.and_then(|ttl| Ttl::new(ttl).ok()),
            exits: if node.exits.is_some() { plan.exits.clone() } else { Vec::new() },
            graph: Arc::from(self.name.as_str()),
            node: Arc::from(node.name.as_str()),
            state: state_name::<S>(),
        })
    }

    fn check_cache(&mut self, node: &NodeRef, place: usize, cache: &DraftCache<S, D>) {
        let Some(draft) = self.nodes.get(place) else { return };
        let mut problems = Vec::new();
        let name = || node.name().to_owned();
        let mistakes = [
            cache.ttl.is_some_and(|ttl| ttl.as_millis() == 0).then_some(NO_TIME),
            cache.ttl.is_some_and(|ttl| ttl.as_millis() > 0 && Ttl::new(ttl).is_err()).then_some(TOO_LONG),
            draft.run.is_subgraph().then_some(SUBGRAPH),
            (!draft.outward.is_empty()).then_some(OUTWARD),
        ];
        for what in mistakes.into_iter().flatten() {
            problems.push(WiringProblem::CacheMistake { node: name(), what });
        }
        match (draft.packet, cache.packet) {
            (Some(sent), None) => {
                problems.push(WiringProblem::PacketNotInKey { node: name(), packet: sent.name().to_owned() });
            }
            (sent, Some(read)) if sent != Some(read) => {
                problems.push(WiringProblem::KeyPacket { node: name(), packet: read.name().to_owned() });
            }
            _ => {}
        }
        problems.into_iter().for_each(|problem| self.report(problem));
    }
}

const NO_TIME: &str = "uses a result for no time: its `ttl` is less than a millisecond; take the policy out, or give it a longer one";
const TOO_LONG: &str = "uses a result for more than a thousand years: without a `ttl` it is used for ever";
const SUBGRAPH: &str = "is for a subgraph, whose own checkpoints and events would be missing: give the policy to nodes within it";
const OUTWARD: &str = "is for a node that returns `ParentCommand`, and what is said to the graph around is in no cache: take the policy out";

/// The state, with its version and those of flattened ones, as one text.
fn state_name<S: GraphState>() -> Arc<str> {
    // Texts and numbers alone cannot fail to be written.
    serde_json::to_string(&(S::NAME, versions::<S>())).unwrap_or_default().into()
}
