use crate::erased::{Packet, PacketType};
use crate::step::{Choice, Leave};

use super::*;

/// The notation of a graph: `a>b` edge, `a+b>c` join, `a+b>c?` optional join, `a~>b` an exit of `a`'s route,
/// `a=>b` an exit with a packet, `d!` deferred. `^` is START, `$` is END. Nodes are single letters, in this order:
const NODES: &str = "abcdef";

fn index(name: char) -> usize {
    NODES.find(name).unwrap()
}

fn target(name: &str) -> Target {
    match name {
        "$" => Target::End,
        name => Target::Node(index(name.chars().next().unwrap())),
    }
}

fn graph(notation: &str) -> Topology {
    let mut topology = Topology { nodes: vec![NodePlan::default(); NODES.len()], ..Topology::default() };
    for word in notation.split_whitespace() {
        if let Some(name) = word.strip_suffix('!') {
            topology.nodes[index(name.chars().next().unwrap())].deferred = true;
            continue;
        }
        let (from, to) = word.split_once('>').unwrap();
        let (to, optional) = (to.trim_end_matches('?'), to.ends_with('?'));
        if from.contains('+') {
            let sources: Vec<usize> = from.split('+').map(|s| index(s.chars().next().unwrap())).collect();
            for (place, &source) in sources.iter().enumerate() {
                topology.nodes[source].joins.push((topology.joins.len(), place));
            }
            topology.joins.push(Join { sources, target: target(to), optional });
            continue;
        }
        let name = from.trim_end_matches(['~', '=']);
        let node = match name {
            "^" => &mut topology.start,
            name => &mut topology.nodes[index(name.chars().next().unwrap())],
        };
        if from == name {
            node.edges.push(target(to));
        } else {
            node.exits.push(ExitPlan {
                label: "",
                to: vec![target(to)],
                packet: from.ends_with('=').then(PacketType::of::<()>),
            });
        }
    }
    topology
}

/// The notation of departures: `a` by its edges, `a/0` by exit 0, `a/0,1` by several, `a/0:7` sending 7.
fn departures(notation: &str) -> Vec<(Option<usize>, Leave)> {
    let choice = |word: &str| {
        let (exit, packet) = match word.split_once(':') {
            Some((exit, packet)) => (exit, Some(Packet::new(packet.parse::<i32>().unwrap()))),
            None => (word, None),
        };
        Choice { exit: exit.parse().unwrap(), packet }
    };
    notation
        .split_whitespace()
        .map(|word| {
            let (name, leave) = match word.split_once('/') {
                None => (word, Leave::ByEdges),
                Some((name, exits)) if exits.contains(',') => {
                    (name, Leave::ByAll(exits.split(',').map(choice).collect()))
                }
                Some((name, exit)) => (name, Leave::By(choice(exit))),
            };
            ((name != "^").then(|| index(name.chars().next().unwrap())), leave)
        })
        .collect()
}

fn show(progress: &Progress) -> String {
    let tasks = progress.tasks.iter().map(|task| {
        let name = NODES.chars().nth(task.node).unwrap().to_string();
        match &task.packet {
            Some(packet) => format!("{name}:{}", packet.get::<i32>().unwrap()),
            None => name,
        }
    });
    tasks.collect::<Vec<_>>().join(" ")
}

/// Plans several supersteps. Each step has the departures and the tasks that are planned after them.
fn check(notation: &str, steps: &[(&str, &str)]) -> Progress {
    let topology = graph(notation);
    let mut progress = Progress::new(&topology);
    for (step, (left, planned)) in steps.iter().enumerate() {
        let mut left = departures(left);
        plan(&topology, &mut progress, step as u64, left.iter_mut().map(|(node, leave)| (*node, leave)));
        assert_eq!(show(&progress), *planned, "graph `{notation}`, step {step}");
        assert!(progress.planned.iter().all(|&planned| !planned));
    }
    progress
}

#[test]
fn chain_runs_node_by_node_and_ends() {
    check("^>a a>b b>$", &[("^", "a"), ("a", "b"), ("b", "")]);
}

#[test]
fn target_of_several_edges_runs_once_in_registration_order() {
    check("^>c ^>b ^>a a>d b>d c>d", &[("^", "a b c"), ("a b c", "d")]);
}

#[test]
fn unequal_branches_run_a_target_twice_and_a_join_once() {
    check("^>a ^>b b>c a>d c>d", &[("^", "a b"), ("a b", "c d"), ("c d", "d")]);
    check("^>a ^>b b>c a+c>d", &[("^", "a b"), ("a b", "c"), ("c", "d"), ("d", "")]);
}

#[test]
fn complete_join_is_cleared_for_its_next_round() {
    let steps = [("^", "a b"), ("a b", "c"), ("c", "a b"), ("a b", "c")];
    check("^>a ^>b a+b>c c>a c>b", &steps);
}

#[test]
fn source_that_finishes_beside_the_target_counts_for_the_next_round() {
    // `a` loops on itself; its second arrival comes in the superstep in which `c` runs.
    let steps = [("^", "a b"), ("a/0 b", "a c"), ("a/0 c", "a b"), ("a/1 b", "c")];
    check("^>a ^>b a~>a a~>$ a+b>c c>b", &steps);
}

/// Returns the arrivals of the joins that have begun.
fn begun(progress: &Progress, notation: &str) -> Vec<Vec<bool>> {
    progress.begun_joins(&graph(notation)).map(|(_, arrived)| arrived.to_vec()).collect()
}

#[test]
fn other_edges_into_the_target_leave_a_join_unchanged() {
    let notation = "^>a ^>f f>c a+b>c";
    let progress = check(notation, &[("^", "a f"), ("a f", "c"), ("c", "")]);
    assert_eq!(begun(&progress, notation), [[true, false]]);
}

#[test]
fn incomplete_join_names_missing_sources_unless_optional() {
    let notation = "^>a a+b>c";
    let progress = check(notation, &[("^", "a"), ("a", "")]);
    let missing: Vec<_> = progress.incomplete_joins(&graph(notation)).map(|(_, missing)| missing).collect();
    assert_eq!(missing, [[index('b')]]);
    let notation = "^>a a+b>c?";
    assert_eq!(check(notation, &[("^", "a"), ("a", "")]).incomplete_joins(&graph(notation)).count(), 0);
}

#[test]
fn packets_run_in_order_after_tasks_of_edges() {
    let notation = "^>a ^>b a=>c a~>d b=>c c>e";
    let steps = [("^", "a b"), ("a/0:1,1,0:2 b/0:3", "d c:1 c:2 c:3"), ("c c c", "e")];
    check(notation, &steps);
}

#[test]
fn several_packets_to_a_source_are_one_arrival() {
    let steps = [("^", "a"), ("a/0:1,0:2", "b:1 b:2"), ("b b", "")];
    let notation = "^>a a=>b b+c>d";
    let progress = check(notation, &steps);
    assert_eq!(begun(&progress, notation), [[true, false]]);
    let steps = [("^", "a c"), ("a/0:1,0:2 c", "b:1 b:2"), ("b b", "d"), ("d", "")];
    check("^>a ^>c a=>b b+c>d", &steps);
}

#[test]
fn exit_to_end_leaves_other_branches_running() {
    check("^>a ^>b a~>$ a~>b b>c", &[("^", "a b"), ("a/0 b", "c"), ("c", "")]);
}

#[test]
fn deferred_node_waits_and_runs_once() {
    let notation = "^>a ^>b a>d b>c c>d d!";
    check(notation, &[("^", "a b"), ("a b", "c"), ("c", "d"), ("d", "")]);
}

#[test]
fn packets_to_a_deferred_node_wait_in_order() {
    let notation = "^>a a=>d a~>b b>d d!";
    check(notation, &[("^", "a"), ("a/0:1,1,0:2", "b"), ("b", "d d:1 d:2"), ("d d d", "")]);
}

#[test]
fn deferred_node_can_start_the_next_round() {
    let notation = "^>a ^>d a>$ d>a d!";
    check(notation, &[("^", "a"), ("a", "d"), ("d", "a"), ("a", "")]);
}

#[test]
fn route_from_start_is_followed() {
    check("^~>a ^=>b", &[("^/1:5,0", "a b:5")]);
}
