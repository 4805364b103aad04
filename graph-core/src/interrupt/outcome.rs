use std::sync::Arc;

use crate::erased::{ErasedState, owned};
use crate::error::ErrorKind;
use crate::interrupt::Pause;
use crate::state::GraphState;

/// The result of a run.
#[derive(Clone)]
pub enum Outcome<S> {
    /// The run has finished, with this state.
    Done(S),
    /// The run stopped before it finished: at interrupts, at breakpoints, asleep, or by a [`Stop`](crate::run::Stop).
    Interrupted(Pause<S>),
}

impl Outcome<Arc<dyn ErasedState>> {
    /// Returns the outcome with its type.
    ///
    /// # Errors
    /// The state is of another type.
    pub(crate) fn typed<S: GraphState>(self) -> Result<Outcome<S>, ErrorKind> {
        let (state, pause) = match self {
            Self::Done(state) => (state, None),
            Self::Interrupted(pause) => {
                let (state, pause) = pause.split();
                (state, Some(pause))
            }
        };
        let state = owned(state)?;
        Ok(match pause {
            None => Outcome::Done(state),
            Some(pause) => Outcome::Interrupted(pause.with_state(state)),
        })
    }
}

impl<S: GraphState> Outcome<S> {
    /// Returns the final state. For an interrupted run, this is the state after the last superstep that was applied.
    pub fn state(&self) -> &S {
        match self {
            Self::Done(state) => state,
            Self::Interrupted(pause) => pause.state(),
        }
    }

    /// Returns the state by value; see [`state`](Self::state).
    pub fn into_state(self) -> S {
        match self {
            Self::Done(state) => state,
            Self::Interrupted(pause) => pause.into_state(),
        }
    }

    /// Returns the fields marked `output`, or the whole state if none is marked.
    pub fn output(&self) -> S::Output {
        self.state().output()
    }

    /// Describes the answers and breakpoints that an interrupted run waits for.
    pub(crate) fn waits_for(&self) -> Vec<String> {
        let Self::Interrupted(pause) = self else { return Vec::new() };
        let questions = pause.interrupts().iter().map(|open| format!("an answer to `{}`", open.name));
        let breakpoints = pause
            .before()
            .iter()
            .chain(pause.after())
            .map(|node| format!("a resumption past the breakpoint at `{node}`"));
        questions.chain(breakpoints).collect()
    }

    /// Returns the pause of an interrupted run, or `None` if the run has finished.
    pub fn pause(&self) -> Option<&Pause<S>> {
        match self {
            Self::Done(_) => None,
            Self::Interrupted(pause) => Some(pause),
        }
    }
}

impl<S: GraphState> std::fmt::Debug for Outcome<S> {
    /// Formats the state by its dump rules, so that excluded fields do not get into logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Done(state) => f.debug_tuple("Done").field(&state.dump()).finish(),
            Self::Interrupted(pause) => f.debug_tuple("Interrupted").field(pause).finish(),
        }
    }
}
