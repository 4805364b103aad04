use crate::state::GraphState;

/// How a run ended.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Outcome<S> {
    /// Nothing is left to run.
    Done(S),
}

impl<S: GraphState> Outcome<S> {
    /// The state when the run ended.
    pub fn state(&self) -> &S {
        match self {
            Self::Done(state) => state,
        }
    }

    /// The state when the run ended.
    pub fn into_state(self) -> S {
        match self {
            Self::Done(state) => state,
        }
    }

    /// The fields marked `output`, or the state itself when none is.
    pub fn output(&self) -> S::Output {
        self.state().output()
    }
}
