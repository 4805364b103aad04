use crate::erased::Payload;
use crate::error::{Failure, NodeError};

/// A result with a separate value that is saved for the next run on the thread.
///
/// ```
/// use superstep::checkpoint::MemoryCheckpointer;
/// use superstep::workflow::{Final, Workflow};
///
/// /// Adds up all numbers that it was ever given, and says by how much the last one has raised the mean.
/// async fn mean(number: &f64, previous: Option<&(u32, f64)>) -> superstep::Result<Final<f64, (u32, f64)>> {
///     let (count, sum) = previous.copied().unwrap_or_default();
///     let before = if count == 0 { 0.0 } else { sum / f64::from(count) };
///     let (count, sum) = (count + 1, sum + number);
///     Ok(Final { value: sum / f64::from(count) - before, save: (count, sum) })
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> superstep::Result<()> {
/// let thread = Workflow::new(mean).compile()?.with_checkpointer(MemoryCheckpointer::new()).thread("a");
/// assert_eq!(thread.run(3.0).await?.value()?, 3.0);
/// assert_eq!(thread.run(5.0).await?.value()?, 1.0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Final<V, S> {
    /// The result of the run.
    pub value: V,
    /// The value that the next run gets as its previous result.
    pub save: S,
}

/// The result of a workflow's function, inside a `Result`: any type that can be stored, or a [`Final`].
#[diagnostic::on_unimplemented(
    message = "a workflow cannot return `{Self}`",
    label = "`{Self}` cannot be stored",
    note = "derive `serde::Serialize` and `serde::Deserialize` for it; it also has to be `Send`, `Sync` and `'static`"
)]
pub trait WorkflowResult: Send + Sync + 'static {
    /// The result of a run.
    type Value: Payload;
    /// The previous result for the next run.
    type Saved: Payload;

    /// `true` if the value and the saved result are separate.
    #[doc(hidden)]
    const KEEPS: bool;

    #[doc(hidden)]
    fn into_parts(self) -> (Self::Value, Option<Self::Saved>);

    /// Returns the saved result, if it is the value itself.
    #[doc(hidden)]
    fn saved(value: &Self::Value) -> Option<&Self::Saved>;

    /// Converts a saved result into the value, if they are the same.
    #[doc(hidden)]
    fn value_of(saved: Self::Saved) -> Result<Self::Value, Self::Saved>;
}

#[diagnostic::do_not_recommend]
impl<T: Payload> WorkflowResult for T {
    type Value = T;
    type Saved = T;

    const KEEPS: bool = false;

    fn into_parts(self) -> (T, Option<T>) {
        (self, None)
    }

    fn saved(value: &T) -> Option<&T> {
        Some(value)
    }

    fn value_of(saved: T) -> Result<T, T> {
        Ok(saved)
    }
}

impl<V: Payload, S: Payload> WorkflowResult for Final<V, S> {
    type Value = V;
    type Saved = S;

    const KEEPS: bool = true;

    fn into_parts(self) -> (V, Option<S>) {
        (self.value, Some(self.save))
    }

    fn saved(_: &V) -> Option<&S> {
        None
    }

    fn value_of(saved: S) -> Result<V, S> {
        Err(saved)
    }
}

/// The return type of a workflow's function: a `Result`.
#[diagnostic::on_unimplemented(
    message = "the function of a workflow cannot return `{Self}`",
    label = "`{Self}` is not a `Result`",
    note = "return `superstep::Result<{Self}>`, and wrap the value in `Ok(..)`"
)]
pub trait WorkflowReturn: Send + 'static {
    /// The type inside `Ok`.
    type WorkflowResult;

    #[doc(hidden)]
    fn finish(self) -> Result<Self::WorkflowResult, NodeError>;
}

impl<R: Send + 'static, E: Failure + Send + 'static> WorkflowReturn for Result<R, E> {
    type WorkflowResult = R;

    fn finish(self) -> Result<R, NodeError> {
        self.map_err(Failure::into_node_error)
    }
}
