//! Random graphs, compared with a sequential interpreter.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use superstep::node::Named;
use superstep::{
    Context, ContextWith, END, ErrorKind, Graph, GraphState, Node, PacketNode, Route, START, StateGraph,
    named,
};

use crate::engine::trace::{block_on, workers};

const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
const NODES: usize = NAMES.len();
/// The index of the packet node, after all others.
const PACKETS: usize = NODES;
const LIMIT: u64 = 12;

#[derive(GraphState, Clone, Debug)]
struct Log {
    #[state(reducer = append)]
    lines: Vec<String>,
}

#[derive(Route, Clone, Copy, Debug)]
enum Way {
    #[to("a")]
    A,
    #[to("b")]
    B,
    #[to("c", "d")]
    CandD,
    #[to("e", END)]
    E,
    #[to("f")]
    F,
    #[to(END)]
    End,
    #[to("packets")]
    Packet(Item),
}

#[derive(Serialize, Deserialize, Clone, Copy, Debug)]
struct Item(u8);

/// The targets of each exit, for the interpreter.
const EXITS: [&[usize]; 6] = [&[0], &[1], &[2, 3], &[4], &[5], &[]];

fn way(exit: u8) -> Way {
    match exit {
        0 => Way::A,
        1 => Way::B,
        2 => Way::CandD,
        3 => Way::E,
        4 => Way::F,
        5 => Way::End,
        _ => Way::Packet(Item(exit)),
    }
}

/// A random graph. A node has edges or a route; in superstep n a route returns the nth list.
#[derive(Clone, Debug)]
struct Plan {
    start: BTreeSet<usize>,
    nodes: Vec<Leaving>,
    joins: Vec<(usize, usize, usize, bool)>,
    deferred: BTreeSet<usize>,
    /// `true` if the packet node is deferred.
    late: bool,
    /// The number of yields in each node.
    pauses: Vec<u8>,
}

#[derive(Clone, Debug)]
enum Leaving {
    Edges(BTreeSet<usize>),
    Routes(Vec<Vec<u8>>),
}

fn plans() -> impl Strategy<Value = Plan> {
    let nodes = || prop::collection::btree_set(0..NODES, 0..3);
    let routes = prop::collection::vec(prop::collection::vec(0..10_u8, 1..5), 1..4);
    let leaving = prop_oneof![3 => nodes().prop_map(Leaving::Edges), 1 => routes.prop_map(Leaving::Routes)];
    let join = (0..NODES, 0..NODES, 0..NODES, any::<bool>());
    (
        prop::collection::btree_set(0..NODES, 1..4),
        prop::collection::vec(leaving, NODES),
        prop::collection::vec(join, 0..6),
        prop::collection::btree_set(0..NODES, 0..2),
        any::<bool>(),
        prop::collection::vec(0..3_u8, NODES + 1),
    )
        .prop_map(|(start, nodes, joins, deferred, late, pauses)| Plan {
            start,
            nodes,
            joins,
            deferred,
            late,
            pauses,
        })
        .prop_map(make_valid)
}

/// Removes invalid joins, and makes every node reachable without a join.
fn make_valid(mut plan: Plan) -> Plan {
    let routed = |node: usize| matches!(plan.nodes[node], Leaving::Routes(_));
    plan.joins.retain(|&(a, b, to, _)| a != b && a != to && b != to && !routed(a) && !routed(b));
    let anywhere = (0..NODES).any(routed);
    let mut reached = plan.start.clone();
    loop {
        let before = reached.len();
        for node in 0..NODES {
            match &plan.nodes[node] {
                Leaving::Edges(to) if reached.contains(&node) => reached.extend(to),
                _ => {}
            }
        }
        if reached.len() == before {
            break;
        }
    }
    if !anywhere || !reached.iter().any(|&node| routed(node)) {
        plan.start.extend((0..NODES).filter(|node| !reached.contains(node)));
    }
    plan
}

fn line(cx: &Context, seen: usize, packet: Option<u8>) -> LogUpdate {
    let packet = packet.map_or(String::new(), |packet| format!(" {packet}"));
    Log::update().lines([format!("{}:{}{packet} sees {seen}", cx.superstep(), cx.node())])
}

async fn pause(times: u8) {
    for _ in 0..times {
        tokio::task::yield_now().await;
    }
}

struct Plain(u8);

impl Node for Plain {
    type Reads = Log;
    type Output = LogUpdate;

    async fn run(&self, log: &Log, cx: &Context) -> LogUpdate {
        pause(self.0).await;
        line(cx, log.lines.len(), None)
    }
}

struct Routed(u8, Vec<Vec<u8>>);

impl Node for Routed {
    type Reads = Log;
    type Output = (LogUpdate, Vec<Way>);

    async fn run(&self, log: &Log, cx: &Context) -> Self::Output {
        pause(self.0).await;
        let ways = &self.1[cx.superstep() as usize % self.1.len()];
        (line(cx, log.lines.len(), None), ways.iter().map(|&exit| way(exit)).collect())
    }
}

struct Packets(u8);

impl PacketNode<ContextWith<()>> for Packets {
    type Reads = Log;
    type Packet = Item;
    type Output = LogUpdate;

    async fn run(&self, log: &Log, item: &Item, cx: &ContextWith<()>) -> LogUpdate {
        pause((self.0 + item.0) % 3).await;
        line(cx, log.lines.len(), Some(item.0))
    }
}

/// A node of the built graph.
enum Made {
    Plain(Named<Plain>),
    Routed(Named<Routed>),
}

/// Evaluates an expression for a node of either kind.
macro_rules! with {
    ($made:expr, |$node:ident| $then:expr) => {
        match &$made {
            Made::Plain($node) => $then,
            Made::Routed($node) => $then,
        }
    };
}

fn plain(made: &Made) -> &Named<Plain> {
    let Made::Plain(node) = made else { unreachable!("only nodes without a route have edges") };
    node
}

fn build(plan: &Plan) -> Graph<Log> {
    let made: Vec<Made> = (0..NODES)
        .map(|node| match &plan.nodes[node] {
            Leaving::Edges(_) => Made::Plain(named(NAMES[node], Plain(plan.pauses[node]))),
            Leaving::Routes(ways) => {
                Made::Routed(named(NAMES[node], Routed(plan.pauses[node], ways.clone())))
            }
        })
        .collect();
    let packets = named("packets", Packets(plan.pauses[PACKETS]));
    let mut graph = StateGraph::<Log>::new();
    for node in &made {
        graph = with!(node, |node| graph.node(node));
    }
    if made.iter().any(|node| matches!(node, Made::Routed(_))) {
        graph = graph.edge(&packets, END);
        if plan.late {
            graph = graph.defer(&packets);
        }
    }
    for &node in &plan.start {
        graph = with!(made[node], |node| graph.edge(START, node));
    }
    for (node, leaving) in plan.nodes.iter().enumerate() {
        let Leaving::Edges(targets) = leaving else { continue };
        graph = graph.edge(plain(&made[node]), END);
        for &to in targets {
            graph = with!(made[to], |to| graph.edge(plain(&made[node]), to));
        }
    }
    for &(a, b, to, optional) in &plan.joins {
        let from = (plain(&made[a]), plain(&made[b]));
        graph = with!(made[to], |to| match optional {
            true => graph.join_optional(from, to),
            false => graph.join(from, to),
        });
    }
    for &node in &plan.deferred {
        graph = with!(made[node], |node| graph.defer(node));
    }
    graph.compile().unwrap()
}

/// The lines that a run writes, and its outcome.
type Transcript = (Vec<String>, String);

fn name(node: usize) -> &'static str {
    NAMES.get(node).copied().unwrap_or("packets")
}

/// The reference semantics, one node after the other.
fn interpret(plan: &Plan) -> Transcript {
    let (mut lines, mut step): (Vec<String>, u64) = (Vec::new(), 0);
    let mut planned = plan.start.clone();
    let mut packets = Vec::new();
    let mut late: (BTreeSet<usize>, Vec<u8>) = Default::default();
    let mut arrived = vec![BTreeSet::new(); plan.joins.len()];
    loop {
        late.0.extend(planned.iter().filter(|node| plan.deferred.contains(node)));
        planned.retain(|node| !plan.deferred.contains(node));
        if plan.late {
            late.1.append(&mut packets);
        }
        if planned.is_empty() && packets.is_empty() {
            (planned, packets) = std::mem::take(&mut late);
        }
        if planned.is_empty() && packets.is_empty() {
            let waits = |(join, arrived): (&(usize, usize, usize, bool), &BTreeSet<usize>)| {
                let missing = [join.0, join.1].into_iter().find(|source| !arrived.contains(source))?;
                (!arrived.is_empty() && !join.3).then(|| format!("{} misses {}", name(join.2), name(missing)))
            };
            let end = plan.joins.iter().zip(&arrived).find_map(waits);
            return (lines, end.unwrap_or_else(|| "done".to_owned()));
        }
        if step == LIMIT {
            let next = planned.iter().map(|&node| name(node)).chain(packets.iter().map(|_| "packets"));
            return (lines, format!("next {}", next.collect::<Vec<_>>().join(" ")));
        }
        step += 1;
        let seen = lines.len();
        let (nodes, items) = (std::mem::take(&mut planned), std::mem::take(&mut packets));
        for &node in &nodes {
            lines.push(format!("{step}:{} sees {seen}", name(node)));
            match &plan.nodes[node] {
                Leaving::Edges(to) => planned.extend(to),
                Leaving::Routes(ways) => {
                    for &exit in &ways[step as usize % ways.len()] {
                        match EXITS.get(exit as usize) {
                            Some(to) => planned.extend(*to),
                            None => packets.push(exit),
                        }
                    }
                }
            }
            for (join, arrived) in plan.joins.iter().zip(&mut arrived) {
                if join.0 == node || join.1 == node {
                    arrived.insert(node);
                }
            }
        }
        for item in items {
            lines.push(format!("{step}:packets {item} sees {seen}"));
        }
        for (join, arrived) in plan.joins.iter().zip(&mut arrived) {
            if arrived.len() == 2 {
                arrived.clear();
                planned.insert(join.2);
            }
        }
    }
}

async fn run(graph: &Graph<Log>) -> Transcript {
    match graph.run(Log::input()).recursion_limit(LIMIT).await {
        Ok(outcome) => (outcome.into_state().lines, "done".to_owned()),
        Err(error) => {
            let lines = error.state::<Log>().unwrap().lines.clone();
            let end = match error.kind() {
                ErrorKind::JoinNotFilled { target, missing, .. } => {
                    format!("{target} misses {}", missing.join(" "))
                }
                ErrorKind::RecursionLimit { next, .. } => format!("next {}", next.join(" ")),
                _ => error.to_string(),
            };
            (lines, end)
        }
    }
}

#[test]
fn random_runs_match_a_sequential_interpreter() {
    let runtimes = [2, 4].map(workers);
    let mut config = ProptestConfig::with_cases(500);
    config.failure_persistence = None;
    proptest!(config, |(plan in plans())| {
        let (graph, expected) = (build(&plan), interpret(&plan));
        prop_assert_eq!(&block_on(run(&graph)), &expected, "on one thread");
        for runtime in &runtimes {
            prop_assert_eq!(&runtime.block_on(run(&graph)), &expected, "on several");
        }
    });
}

#[test]
fn random_graphs_cover_every_outcome() {
    use proptest::strategy::ValueTree as _;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let transcripts: Vec<Transcript> =
        (0..300).map(|_| interpret(&plans().new_tree(&mut runner).unwrap().current())).collect();
    for end in ["done", "misses", "next"] {
        assert!(transcripts.iter().filter(|transcript| transcript.1.contains(end)).count() > 5, "{end}");
    }
    let packets = transcripts
        .iter()
        .filter(|transcript| transcript.0.iter().any(|line| line.contains("packets")))
        .count();
    assert!(packets > 50, "{packets}");
    assert!(transcripts.iter().any(|transcript| transcript.0.len() > 40));
}
