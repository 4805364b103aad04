use crate::state::GraphState;

/// How a run ended.
#[derive(Clone)]
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

impl<S: GraphState> std::fmt::Debug for Outcome<S> {
    /// By the dump rules: what a state keeps to itself does not get into logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Done(state) => f.debug_tuple("Done").field(&state.dump()).finish(),
        }
    }
}
