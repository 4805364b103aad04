use crate::error::WiringProblem;
use crate::node::ReadState;
use crate::step::{NodeRef, States};

use super::Draft;

impl Draft {
    /// Reports an exit to a node that the graph does not have, or cannot have because the node reads another state.
    pub(super) fn unknown_destination(
        &mut self,
        from: &str,
        exit: &str,
        to: &NodeRef,
        states: Option<States>,
    ) {
        let (node, exit, to) = (from.to_owned(), exit.to_owned(), to.name().to_owned());
        let mut read = Vec::new();
        if let Some(states) = states {
            states(&mut read);
        }
        let problem = match read.into_iter().find(|read| !self.parts.contains(&read.id)) {
            Some(ReadState { name, .. }) => {
                let (reads, state) = (name.to_owned(), self.state.name.to_owned());
                WiringProblem::DestinationOfOtherState { node, exit, to, reads, state }
            }
            None => WiringProblem::UnknownDestination { node, exit, to },
        };
        self.report(problem);
    }
}
