use crate::error::WiringProblem;
use crate::state::{GraphState, StateCheck};

use super::Draft;

impl Draft {
    /// Reports the mistakes of the state itself, and keeps its parts.
    pub(super) fn check_state<S: GraphState>(&mut self) {
        let mut check = StateCheck::default();
        check.part::<S>();
        S::__check(&mut check);
        self.report_state(check);
    }

    // Not in `check_state`, which is compiled for each state.
    fn report_state(&mut self, check: StateCheck) {
        self.parts = check.parts;
        for broken in check.violations {
            self.report(WiringProblem::StartValue {
                field: broken.field.unwrap_or_default().to_owned(),
                rule: broken.rule.to_owned(),
                message: broken.message,
            });
        }
        for wrong in check.keys {
            self.report(WiringProblem::MapKey { field: wrong.field.to_owned(), key: wrong.key.to_owned() });
        }
    }
}
