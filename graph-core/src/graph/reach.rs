use crate::plan::{NodePlan, Target, Topology};

/// Finds the nodes that can be reached from START.
///
/// With `all`, a join counts as filled when all its sources are reachable; otherwise when one of them is. The second
/// form reports a join that can never fill without also reporting every node after it as unreachable.
pub(super) fn reachable(topology: &Topology, all: bool) -> Vec<bool> {
    let mut reached = vec![false; topology.nodes.len()];
    let mut open = targets(&topology.start);
    loop {
        while let Some(node) = open.pop() {
            if let Some(seen) = reached.get_mut(node)
                && !std::mem::replace(seen, true)
                && let Some(plan) = topology.nodes.get(node)
            {
                open.extend(targets(plan));
            }
        }
        let is_reached = |node: &usize| reached.get(*node).copied().unwrap_or(false);
        for join in &topology.joins {
            let fills =
                if all { join.sources.iter().all(is_reached) } else { join.sources.iter().any(is_reached) };
            if let Target::Node(target) = join.target
                && fills
                && !is_reached(&target)
            {
                open.push(target);
            }
        }
        if open.is_empty() {
            return reached;
        }
    }
}

fn targets(plan: &NodePlan) -> Vec<usize> {
    let exits = plan.exits.iter().chain(&plan.handler_exits).flat_map(|exit| &exit.to);
    plan.edges
        .iter()
        .chain(exits)
        .filter_map(|target| match target {
            Target::Node(node) => Some(*node),
            Target::End => None,
        })
        .collect()
}
