use serde::{Deserialize, Serialize};

use super::Machine;

/// What a node returns to end the machine, with its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End<T = ()>(pub T);

/// A type that the machine `M` ends with.
#[diagnostic::on_unimplemented(
    message = "the machine `{M}` does not end with `{Self}`",
    label = "is not the output of `{M}`",
    note = "what it ends with is said on `{M}`: `#[machine(output = ..)]`; `()` if nothing is"
)]
pub trait OutputOf<M: Machine> {
    /// The output.
    #[doc(hidden)]
    fn into_output(self) -> M::Output;
}

/// Whether a machine has ended, as its run holds it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ending<T> {
    /// It is under way.
    #[default]
    Open,
    /// It has ended with this.
    End(T),
}

impl<T> Ending<T> {
    /// The output, if there is one.
    pub fn output(&self) -> Option<&T> {
        match self {
            Self::Open => None,
            Self::End(output) => Some(output),
        }
    }

    /// The output by value, if there is one.
    pub fn into_output(self) -> Option<T> {
        match self {
            Self::Open => None,
            Self::End(output) => Some(output),
        }
    }
}
