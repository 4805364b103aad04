//! Finds the tasks that a resumption adds.

use serde_json::Value;

use crate::engine::{AddedTask, ErasedGraph, StoredTask};
use crate::erased::{Packet, PacketType, ReadPacket, given_packet};
use crate::error::{Error, ErrorKind};
use crate::plan::Task;
use crate::step::{Exit, Leave, NodeRef};

use super::goto::{Goto, To};
use super::start_run::known_node;

/// Finds the tasks that a resumption adds, in order.
pub(super) fn resolve_gotos(graph: &ErasedGraph, gotos: &[Goto]) -> Result<Vec<AddedTask>, Error> {
    let mut tasks = Vec::new();
    for goto in gotos {
        match &goto.0 {
            To::Node { node, packet, routed } => {
                let added = added_node(graph, node, packet.as_ref(), *routed);
                tasks.push(added.map_err(|reason| invalid(graph, node.name(), reason))?);
            }
            To::Route { exits, leave } => route(graph, exits, leave, &mut tasks)?,
        }
    }
    Ok(tasks)
}

fn invalid(graph: &ErasedGraph, node: &str, reason: String) -> Error {
    Error::new(&graph.0.name, ErrorKind::InvalidGoto { node: node.to_owned(), reason })
}

/// Returns the task of a node, with the JSON of its packet.
fn added_node(
    graph: &ErasedGraph,
    node: &NodeRef,
    packet: Option<&Value>,
    routed: bool,
) -> Result<AddedTask, String> {
    if routed {
        return Err("it is more than a node: a resumption runs the node itself, without a route, or with \
                    `send(route)` the nodes to which the route leads"
            .to_owned());
    }
    let index = known_node(graph, node)?;
    let read = graph.0.nodes.get(index).and_then(|node| node.read_packet);
    let packet = match (packet, takes(graph, index)) {
        (None, None) => None,
        (Some(json), Some(takes)) => Some(packet_of(takes, read, json)?),
        (None, Some(takes)) => {
            return Err(format!(
                "it takes a packet of type `{}`: give one with `Goto::named(..).packet(..)` or `send(route)`",
                takes.name()
            ));
        }
        (Some(_), None) => {
            return Err("it reads the state and takes no packet: remove the packet".to_owned());
        }
    };
    added(graph, index, packet)
}

/// Adds the tasks of the nodes to which a route leads.
fn route(
    graph: &ErasedGraph,
    exits: &[Exit],
    leave: &Result<Leave, String>,
    tasks: &mut Vec<AddedTask>,
) -> Result<(), Error> {
    let leave = leave.as_ref().map_err(|error| invalid(graph, "send(..)", error.clone()))?;
    for choice in leave.choices() {
        let Some(exit) = exits.get(choice.exit) else { continue };
        for node in &exit.to {
            let task = sent(graph, node, exit, choice.packet.as_ref());
            tasks.push(task.map_err(|reason| invalid(graph, node.name(), reason))?);
        }
    }
    Ok(())
}

/// Returns the task of a node to which a route leads.
fn sent(
    graph: &ErasedGraph,
    node: &NodeRef,
    exit: &Exit,
    packet: Option<&Packet>,
) -> Result<AddedTask, String> {
    if *node == NodeRef::End {
        return Err(format!("the route `{}` leads to no node", exit.label));
    }
    let index = known_node(graph, node)?;
    let name = |packet: Option<PacketType>| match packet {
        Some(packet) => format!("a packet of type `{}`", packet.name()),
        None => "no packet".to_owned(),
    };
    let takes = takes(graph, index);
    if takes != exit.packet {
        return Err(format!(
            "it takes {}, but the route `{}` has {}",
            name(takes),
            exit.label,
            name(exit.packet)
        ));
    }
    added(graph, index, packet.cloned())
}

/// Returns the type of the packet that a node takes.
fn takes(graph: &ErasedGraph, node: usize) -> Option<PacketType> {
    graph.0.nodes.get(node)?.packet
}

/// Reads the JSON of a packet.
pub(super) fn packet_of(takes: PacketType, read: Option<ReadPacket>, json: &Value) -> Result<Packet, String> {
    let unread = |reason: &str| format!("the packet is not a `{}`: {reason}", takes.name());
    let read = read.ok_or_else(|| unread("its type cannot be read from JSON"))?;
    given_packet(read, json).map_err(|reason| unread(&reason))
}

fn added(graph: &ErasedGraph, node: usize, packet: Option<Packet>) -> Result<AddedTask, String> {
    let stored = StoredTask::payload(graph.0.node_name(node), packet.as_ref());
    let stored = stored.map_err(|error| format!("its packet {error}"))?;
    Ok(AddedTask { task: Task { node, packet }, stored })
}
