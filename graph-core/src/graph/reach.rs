use crate::plan::{NodePlan, Target, Topology};

/// Finds the nodes that can be reached from START.
///
/// With `all`, a join counts as filled when all its sources are reachable; otherwise when one of them is. The second
/// form reports a join that can never fill without also reporting every node after it as unreachable.
pub(super) fn reachable(topology: &Topology, all: bool) -> Vec<bool> {
    let mut reached = vec![false; topology.nodes.len()];
    let mut open = targets(&topology.start);
    // For each join, the number of sources that have to be reached before its target is.
    let mut missing: Vec<usize> =
        topology.joins.iter().map(|join| if all { join.sources.len() } else { 1 }).collect();
    // A join may have lost all its sources to other mistakes.
    let empty = topology.joins.iter().zip(&missing).filter(|(_, missing)| **missing == 0);
    open.extend(empty.filter_map(|(join, _)| node_of(join.target)));
    while let Some(node) = open.pop() {
        let (Some(seen), Some(plan)) = (reached.get_mut(node), topology.nodes.get(node)) else { continue };
        if std::mem::replace(seen, true) {
            continue;
        }
        open.extend(targets(plan));
        for &(join, _) in &plan.joins {
            let (Some(missing), Some(join)) = (missing.get_mut(join), topology.joins.get(join)) else {
                continue;
            };
            *missing = missing.saturating_sub(1);
            if *missing == 0 {
                open.extend(node_of(join.target));
            }
        }
    }
    reached
}

fn targets(plan: &NodePlan) -> Vec<usize> {
    let exits = plan.exits.iter().chain(&plan.handler_exits).flat_map(|exit| &exit.to);
    plan.edges.iter().chain(exits).filter_map(|&target| node_of(target)).collect()
}

fn node_of(target: Target) -> Option<usize> {
    match target {
        Target::Node(node) => Some(node),
        Target::End => None,
    }
}
