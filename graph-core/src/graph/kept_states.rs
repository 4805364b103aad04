//! The states that the subgraphs of a graph keep on the thread.

use crate::engine::{KeptState, KeptStates};
use crate::error::WiringProblem;

use super::draft::Draft;

impl Draft {
    /// Collects the subgraphs that keep their state, and reports those that cannot.
    pub(crate) fn wire_kept_states(&mut self) -> KeptStates {
        let (mut all, mut problems) = (KeptStates::default(), Vec::new());
        for node in &self.nodes {
            let Some(subgraph) = node.run.as_subgraph() else { continue };
            let KeptState { keeps, loses, inside, unknown } = subgraph.kept_state();
            all.unknown |= unknown;
            all.paths.extend(keeps.then(|| node.name.clone()));
            for inside in inside {
                match loses {
                    Some(what) => {
                        problems.push(WiringProblem::StateNotKept { node: node.name.clone(), inside, what });
                    }
                    None => all.paths.push(format!("{}/{inside}", node.name)),
                }
            }
        }
        problems.into_iter().for_each(|problem| self.report(problem));
        all
    }
}
