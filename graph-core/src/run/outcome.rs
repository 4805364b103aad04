use crate::interrupt::Pause;
use crate::state::GraphState;

/// How a run ended.
#[derive(Clone)]
pub enum Outcome<S> {
    /// Nothing is left to run.
    Done(S),
    /// The run has stopped on the way: at questions, or at breakpoints.
    Interrupted(Pause<S>),
}

impl<S: GraphState> Outcome<S> {
    /// The state when the run ended; of an interrupted run, as of the last superstep that was applied.
    pub fn state(&self) -> &S {
        match self {
            Self::Done(state) => state,
            Self::Interrupted(pause) => pause.state(),
        }
    }

    /// The state when the run ended, by value.
    pub fn into_state(self) -> S {
        match self {
            Self::Done(state) => state,
            Self::Interrupted(pause) => pause.into_state(),
        }
    }

    /// The fields marked `output`, or the state itself when none is.
    pub fn output(&self) -> S::Output {
        self.state().output()
    }

    /// What a run that has stopped on the way waits for, in words.
    pub(crate) fn waits(&self) -> Vec<String> {
        let Self::Interrupted(pause) = self else { return Vec::new() };
        let asked = pause.interrupts().iter().map(|open| format!("an answer to `{}`", open.name));
        let past = pause.before().iter().chain(pause.after()).map(|node| format!("a run past `{node}`"));
        asked.chain(past).collect()
    }

    /// Where the run has stopped, if it is not complete.
    pub fn pause(&self) -> Option<&Pause<S>> {
        match self {
            Self::Done(_) => None,
            Self::Interrupted(pause) => Some(pause),
        }
    }
}

impl<S: GraphState> std::fmt::Debug for Outcome<S> {
    /// By the dump rules: what a state keeps to itself does not get into logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Done(state) => f.debug_tuple("Done").field(&state.dump()).finish(),
            Self::Interrupted(pause) => f.debug_tuple("Interrupted").field(pause).finish(),
        }
    }
}
