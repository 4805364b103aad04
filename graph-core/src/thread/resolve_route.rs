//! Finds the exits by which a node is assumed to have left.

use crate::engine::ErasedGraph;
use crate::plan::{ExitPlan, Target};
use crate::step::{Choice, Leave};

use super::as_node::{NamedRoute, Taken};
use super::resolve_goto::packet_of;
use super::start_run::listed;

/// Returns the way by which a node with these exits is assumed to have left.
pub(super) fn resolve_route(graph: &ErasedGraph, exits: &[ExitPlan], taken: Taken) -> Result<Leave, String> {
    match taken {
        Taken::Typed { exits: given, leave } => {
            let same = given.iter().map(|exit| exit.label).eq(exits.iter().map(|exit| exit.label));
            if !same {
                return Err("the route given with `with_route(..)` is not the route of this node".to_owned());
            }
            leave.map_err(|error| error.to_string())
        }
        Taken::Named(routes) => {
            let choices = routes.iter().map(|route| choice(graph, exits, route));
            Ok(Leave::through(choices.collect::<Result<_, _>>()?))
        }
    }
}

/// Finds an exit by its label or by the node to which it leads.
fn choice(graph: &ErasedGraph, exits: &[ExitPlan], route: &NamedRoute) -> Result<Choice, String> {
    let NamedRoute { name, packet } = route;
    let leads = |exit: &ExitPlan| exit.to.iter().any(|&to| is_named(graph, to, name));
    let labelled = exits.iter().position(|exit| exit.label == name);
    let mut leading = exits.iter().enumerate().filter(|(_, exit)| leads(exit)).map(|(index, _)| index);
    let found = match (labelled, leading.next(), leading.next()) {
        (Some(index), ..) | (None, Some(index), None) => index,
        (None, Some(_), Some(_)) => {
            let to_it = exits.iter().filter(|exit| leads(exit));
            return Err(format!("several routes lead to `{name}`: choose {}", described(graph, to_it)));
        }
        (None, None, _) if exits.is_empty() => {
            return Err(format!("it has no routes, so none is `{name}`: it leaves by its edges"));
        }
        (None, None, _) => {
            let all = described(graph, exits.iter());
            return Err(format!("it has no route `{name}`, but {all}"));
        }
    };
    let Some(exit) = exits.get(found) else { return Err(format!("it has no route `{name}`")) };
    let packet = match (exit.packet, packet) {
        (None, None) => None,
        (Some(takes), Some(json)) => {
            let of_target = exit.to.iter().find_map(|to| match to {
                Target::Node(node) => graph.0.nodes.get(*node)?.read_packet,
                Target::End => None,
            });
            let read = packet_of(takes, takes.read().or(of_target), json);
            Some(read.map_err(|reason| format!("route `{}`: {reason}", exit.label))?)
        }
        (Some(takes), None) => {
            return Err(format!(
                "route `{}` has a packet of type `{}`: give it with `with_packet_named(..)`",
                exit.label,
                takes.name()
            ));
        }
        (None, Some(_)) => {
            return Err(format!("route `{}` has no packet: use `with_route_named(..)`", exit.label));
        }
    };
    Ok(Choice { exit: found, packet })
}

fn is_named(graph: &ErasedGraph, to: Target, name: &str) -> bool {
    match to {
        Target::Node(node) => graph.0.find(name) == Some(node),
        Target::End => name == "END",
    }
}

/// Lists exits with the nodes to which they lead.
pub(super) fn described<'e>(graph: &ErasedGraph, exits: impl Iterator<Item = &'e ExitPlan>) -> String {
    let target = |to: &Target| match to {
        Target::Node(node) => format!("`{}`", graph.0.node_name(*node)),
        Target::End => "`END`".to_owned(),
    };
    let exits = exits.map(|exit| {
        let to = exit.to.iter().map(target).collect::<Vec<_>>().join(" and ");
        let packet = exit.packet.map(|packet| format!(", with a packet of type `{}`", packet.name()));
        format!("`{}` (to {to}{})", exit.label, packet.unwrap_or_default())
    });
    listed(exits.collect())
}
