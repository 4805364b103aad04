use std::collections::HashSet;

use crate::error::WiringProblem;

use super::draft::Draft;

impl Draft {
    pub(crate) fn check_policies(&mut self) {
        for what in self.policies.default.problems() {
            self.report(WiringProblem::InvalidPolicy { of: "all nodes".to_owned(), what });
        }
        let mut seen = HashSet::new();
        for (node, policy) in self.policies.of_nodes.clone() {
            let name = node.name().to_owned();
            for what in policy.problems() {
                self.report(WiringProblem::InvalidPolicy { of: format!("node `{name}`"), what });
            }
            if !self.indices.contains_key(&node) {
                self.unknown(&node, "given a policy");
            } else if !seen.insert(node) {
                self.report(WiringProblem::DuplicatePolicy { node: name });
            }
        }
    }
}
