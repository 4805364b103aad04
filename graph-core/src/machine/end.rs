use serde::{Deserialize, Serialize};

use super::Machine;

/// The return value of a node that ends the machine, with the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End<T = ()>(pub T);

/// The output type of the machine `M`.
#[diagnostic::on_unimplemented(
    message = "the machine `{M}` does not end with `{Self}`",
    label = "is not the output type of `{M}`",
    note = "the output type of `{M}` is set by `#[machine(output = ..)]`, and is `()` by default"
)]
pub trait OutputOf<M: Machine> {
    /// Converts the value into the output.
    #[doc(hidden)]
    fn into_output(self) -> M::Output;
}

/// The end of a machine in the state of its run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ending<T> {
    /// The machine has not ended.
    #[default]
    Open,
    /// The machine has ended with this output.
    End(T),
}

impl<T> Ending<T> {
    /// Returns the output, or `None` before the end.
    pub fn output(&self) -> Option<&T> {
        match self {
            Self::Open => None,
            Self::End(output) => Some(output),
        }
    }

    /// Returns the output by value, or `None` before the end.
    pub fn into_output(self) -> Option<T> {
        match self {
            Self::Open => None,
            Self::End(output) => Some(output),
        }
    }
}
