use crate::Outcome;
use crate::engine::Driver;
use crate::erased::WritesOf;
use crate::error::Error;
use crate::interrupt::{Answer, Pause};
use crate::run::{ContextGiven, Run, Stepper, Target};
use crate::thread::OnThread;

use super::{AnyNode, IntoNode, Machine, RunState};

/// A run of a machine that the caller steps through node by node. Made by `machine.run(node).iter()`.
///
/// ```
/// use superstep::machine::{End, Machine, To, to};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Machine)]
/// #[machine(nodes(Half), output = u32)]
/// struct Halving;
///
/// #[derive(Serialize, Deserialize)]
/// struct Half(u32);
///
/// impl Half {
///     async fn run(&self) -> To<Halving, (Half, End<u32>)> {
///         if self.0 % 2 == 0 { to(Half(self.0 / 2)) } else { to(End(self.0)) }
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> superstep::Result<()> {
/// let mut run = Halving::compile()?.run(Half(24)).iter()?;
/// let mut numbers = Vec::new();
/// while let Some(HalvingNode::Half(half)) = run.next().await? {
///     numbers.push(half.0);
/// }
/// assert_eq!(numbers, [12, 6, 3]);
/// assert_eq!(run.output(), Some(&3));
///
/// // Replaces the planned node.
/// let mut run = Halving::compile()?.run(Half(24)).iter()?;
/// run.next_with(Half(10)).await?;
/// assert_eq!(run.finish().await?.ended()?.output, 5);
/// # Ok(())
/// # }
/// ```
pub struct Steps<M: Machine>(Stepper<M::Run, M::Context>);

impl<M: Machine> Steps<M> {
    /// Runs the planned node and returns the next one. Returns `None` if the machine has [ended](Self::output) or has
    /// [paused](Self::pause).
    ///
    /// # Errors
    /// All errors of a run. The node stays planned, and another call runs it again.
    ///
    /// # Cancel safety
    /// If the future is dropped, the node stays planned.
    pub async fn next(&mut self) -> Result<Option<M::Node>, Error> {
        Ok(if self.0.step().await? { self.planned() } else { None })
    }

    /// Replaces the planned node, which is given up, with any node of the machine, runs that, and returns the next one.
    ///
    /// On a thread, the replacement is stored in a checkpoint of its own with the source `update`.
    ///
    /// # Errors
    /// The errors of [`next`](Self::next), and [`NotStorable`](crate::ErrorKind::NotStorable) if the node's data cannot
    /// be stored. In that case the planned node stays planned.
    ///
    /// # Cancel safety
    /// If the future is dropped, the new node is planned.
    pub async fn next_with(&mut self, node: impl IntoNode<M>) -> Result<Option<M::Node>, Error> {
        self.driver().replan(WritesOf::<M::Run>::erase(M::redirect(node)))?;
        self.next().await
    }

    /// Returns the node that runs next, or `None` at the end.
    pub fn planned(&self) -> Option<M::Node> {
        let (name, packet) = self.0.driver().planned()?;
        M::Node::__received(name, packet)
    }

    /// Returns the state after the last node that has run.
    pub fn state(&self) -> &M::State {
        self.0.state().__state()
    }

    /// Returns the output, or `None` before the end.
    pub fn output(&self) -> Option<&M::Output> {
        self.0.state().__output().filter(|_| self.0.driver().planned().is_none())
    }

    /// Returns the pause that the run has stopped at, if any.
    pub fn pause(&self) -> Option<Pause<&M::Run>> {
        self.0.pause()
    }

    /// Answers open interrupts. See [`Stepper::answer`].
    ///
    /// # Errors
    /// [`InvalidAnswer`](crate::ErrorKind::InvalidAnswer) if no open interrupt has the answer's id, the answer cannot be
    /// stored, or its JSON does not fit the question's schema.
    pub fn answer(&mut self, answers: impl IntoIterator<Item = Answer>) -> Result<(), Error> {
        self.0.answer(answers)
    }

    /// Runs the machine until it ends or pauses.
    ///
    /// # Errors
    /// All errors of a run.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the run.
    pub async fn finish(self) -> Result<Outcome<M::Run>, Error> {
        self.0.finish().await
    }

    fn driver(&mut self) -> &mut Driver {
        self.0.driver_mut()
    }
}

impl<R: RunState, C> Run<R, <R::Machine as Machine>::Context, C> {
    /// Begins the run of a machine, which the caller then steps through node by node.
    ///
    /// # Errors
    /// The input violates a validation rule of the state.
    pub fn iter(self) -> Result<Steps<R::Machine>, Error>
    where
        C: ContextGiven<<R::Machine as Machine>::Context>,
    {
        self.start().map(Steps)
    }
}

impl<R: RunState, C, K> Run<R, <R::Machine as Machine>::Context, C, OnThread<R, K>>
where
    C: ContextGiven<<R::Machine as Machine>::Context>,
    OnThread<R, K>: Target<R>,
{
    /// Begins the run of a machine on its thread, which the caller then steps through node by node. Returns `None` if
    /// there is nothing to run.
    ///
    /// With [`Durability::Sync`](crate::Durability::Sync), a node that `next` has run is stored before the call
    /// returns.
    ///
    /// # Errors
    /// The errors with which the run would be refused.
    ///
    /// # Cancel safety
    /// If the future is dropped, the run may or may not have begun. [`resume`](crate::thread::Thread::resume) continues
    /// it if it has.
    pub async fn iter(self) -> Result<Option<Steps<R::Machine>>, Error> {
        Ok(self.start().await?.map(Steps))
    }
}

impl<M: Machine> std::fmt::Debug for Steps<M> {
    /// Shows only the node's name: its data may be confidential.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let planned = self.planned();
        f.debug_struct("Steps").field("planned", &planned.as_ref().map(AnyNode::name)).finish()
    }
}
