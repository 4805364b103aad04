use std::collections::HashMap;
use std::sync::Arc;

use crate::engine::Handler;
use crate::error::WiringProblem;
use crate::node::{ArgsOf, Body, PacketKind, ReadsPacket, Runs, Signature};
use crate::plan::{ExitPlan, Topology};
use crate::state::GraphState;
use crate::step::{IntoStep, NodeRef};

use super::Draft;
use super::draft_handler::DraftHandler;

/// An error handler of a graph over `S` with context `D`.
pub trait Handles<S: GraphState, D, B> {
    /// Erases the handler's type.
    #[doc(hidden)]
    fn handler(body: B) -> DraftHandler;
}

impl<S, D, F, Args, Out> Handles<S, D, Body<F>> for Signature<Args, Out>
where
    S: GraphState,
    F: 'static,
    Args: ArgsOf<S, D> + ReadsPacket,
    Out: IntoStep<S>,
    Args::Fixed: Runs<S, D, F, Out>,
{
    fn handler(body: Body<F>) -> DraftHandler {
        DraftHandler {
            name: body.node.name().to_owned(),
            run: Arc::from(<Args::Fixed as Runs<S, D, F, Out>>::erase(body.run)),
            exits: <Args::Fixed as Runs<S, D, F, Out>>::exits(),
            packet: Args::Packet::packet_type(),
        }
    }
}

impl Draft {
    /// Returns the error handler of each node, and adds their exits to those of the nodes.
    pub(super) fn wire_handlers(&mut self, topology: &mut Topology) -> Vec<Option<Handler>> {
        let mut handlers: Vec<_> = vec![self.policies.default_handler.clone(); self.nodes.len()];
        let mut seen: HashMap<NodeRef, bool> = HashMap::new();
        for (node, handler) in std::mem::take(&mut self.policies.handlers) {
            let Some(slot) = self.indices.get(&node).and_then(|&index| handlers.get_mut(index)) else {
                self.unknown(
                    &node,
                    if handler.is_some() { "given an error handler" } else { "marked `no_on_error`" },
                );
                continue;
            };
            let name = node.name().to_owned();
            match (seen.get(&node), handler.is_some()) {
                (None, has) => {
                    *slot = handler;
                    seen.insert(node, has);
                }
                (Some(true), true) => self.report(WiringProblem::DuplicateErrorHandler { node: name }),
                (Some(false), false) => {}
                _ => self.report(WiringProblem::HandlerAndNone { node: name }),
            }
        }
        let handlers = handlers.into_iter().enumerate();
        handlers.map(|(node, handler)| self.wire_handler(topology, node, handler?)).collect()
    }

    fn wire_handler(
        &mut self,
        topology: &mut Topology,
        node: usize,
        handler: DraftHandler,
    ) -> Option<Handler> {
        let DraftHandler { name, run, exits, packet } = handler;
        let (of, reads, routed) = {
            let node = self.nodes.get(node)?;
            (node.name.clone(), node.packet, node.exits.is_some())
        };
        if let Some(packet) = packet.filter(|packet| reads != Some(*packet)) {
            let packet = packet.name().to_owned();
            self.report(WiringProblem::HandlerPacket { node: of.clone(), handler: name.clone(), packet });
        }
        let plans: Vec<ExitPlan> = match &exits {
            Some(exits) => exits.iter().map(|exit| self.exit_plan(&name, exit)).collect(),
            None if routed => {
                self.report(WiringProblem::HandlerWithoutRoute { node: of, handler: name });
                return None;
            }
            None => Vec::new(),
        };
        if exits.is_some_and(|exits| exits.is_empty()) {
            self.report(WiringProblem::RouteWithoutExits { node: name });
        }
        let plan = topology.nodes.get_mut(node)?;
        let same = plan.exits.len() == plans.len()
            && plan
                .exits
                .iter()
                .zip(&plans)
                .all(|(a, b)| (a.label, &a.to, a.packet) == (b.label, &b.to, b.packet));
        if same {
            return Some(Handler { run, exits_from: 0 });
        }
        plan.handler_exits = plans;
        Some(Handler { run, exits_from: plan.exits.len() })
    }
}
