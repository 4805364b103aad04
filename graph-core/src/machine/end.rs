use serde::{Deserialize, Serialize};

/// The return value of a node that ends the machine, with the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End<T = ()>(pub T);

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
