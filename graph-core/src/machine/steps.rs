use crate::engine::Driver;
use crate::error::Error;
use crate::interrupt::{Answer, Pause};
use crate::run::{ContextGiven, Outcome, Run, Stepper, Target};
use crate::thread::OnThread;

use super::{AnyNode, IntoNode, Machine, RunState};

/// A run of a machine that is driven by hand, node by node; made by `machine.run(node).iter()`.
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
/// // With another node than the planned one.
/// let mut run = Halving::compile()?.run(Half(24)).iter()?;
/// run.next_with(Half(10)).await?;
/// assert_eq!(run.finish().await?.ended()?.output, 5);
/// # Ok(())
/// # }
/// ```
pub struct Steps<M: Machine>(Stepper<M::Run, M::Context>);

impl<M: Machine> Steps<M> {
    /// Runs the planned node, and gives the one that it leads to; `None` when the machine has [ended](Self::output), or
    /// has [stopped](Self::pause) on the way.
    ///
    /// # Errors
    /// Everything that a run can fail with. The node stays planned: a further call runs it again.
    ///
    /// # Cancel safety
    /// After a dropped call the node is planned as before.
    pub async fn next(&mut self) -> Result<Option<M::Node>, Error> {
        Ok(if self.0.step().await? { self.planned() } else { None })
    }

    /// The same with another node in the place of the planned one, which is given up. Any node of the machine will do.
    ///
    /// On a thread the change is a checkpoint of its own, with the source `update`.
    ///
    /// # Errors
    /// As [`next`](Self::next); and [`NotStorable`](crate::ErrorKind::NotStorable) for a node whose data cannot be stored,
    /// the planned one is planned still then.
    ///
    /// # Cancel safety
    /// After a dropped call the other node is planned.
    pub async fn next_with(&mut self, node: impl IntoNode<M>) -> Result<Option<M::Node>, Error> {
        self.driver().replan(M::redirect(node))?;
        self.next().await
    }

    /// The node that runs next; `None` at the end.
    pub fn planned(&self) -> Option<M::Node> {
        let (name, packet) = self.0.driver().planned()?;
        M::Node::__received(name, packet)
    }

    /// The state as of the last node that has run.
    pub fn state(&self) -> &M::State {
        self.0.state().__state()
    }

    /// What the machine has ended with; `None` before.
    pub fn output(&self) -> Option<&M::Output> {
        self.0.state().__output().filter(|_| self.0.driver().planned().is_none())
    }

    /// Where the run has stopped on the way.
    pub fn pause(&self) -> Option<Pause<&M::Run>> {
        self.0.pause()
    }

    /// Answers open questions; see [`Stepper::answer`].
    ///
    /// # Errors
    /// [`Answer`](crate::ErrorKind::InvalidAnswer): no open question has the answer's id, or the answer cannot be stored.
    pub fn answer(&mut self, answers: impl IntoIterator<Item = Answer>) -> Result<(), Error> {
        self.0.answer(answers)
    }

    /// Runs all that is left, or until the run stops on the way.
    ///
    /// # Errors
    /// Everything that a run can fail with.
    ///
    /// # Cancel safety
    /// A dropped call cancels the run.
    pub async fn finish(self) -> Result<Outcome<M::Run>, Error> {
        self.0.finish().await
    }

    fn driver(&mut self) -> &mut Driver<M::Run, M::Context> {
        self.0.driver_mut()
    }
}

impl<R: RunState, C> Run<R, <R::Machine as Machine>::Context, C>
where
    C: ContextGiven<<R::Machine as Machine>::Context>,
{
    /// Begins the run of a machine, and leaves it to the caller to run node by node.
    ///
    /// # Errors
    /// The state's input breaks a rule.
    pub fn iter(self) -> Result<Steps<R::Machine>, Error> {
        self.start().map(Steps)
    }
}

impl<R: RunState, C, K>
    Run<R, <R::Machine as Machine>::Context, C, OnThread<R, <R::Machine as Machine>::Context, K>>
where
    C: ContextGiven<<R::Machine as Machine>::Context>,
    OnThread<R, <R::Machine as Machine>::Context, K>: Target<R, <R::Machine as Machine>::Context>,
{
    /// Begins the run of a machine on its thread, and leaves it to the caller to run node by node; `None` when there is
    /// nothing to run. With [`Durability::Sync`](crate::Durability::Sync), a node that `next` has run is stored before the
    /// call returns.
    ///
    /// # Errors
    /// What the run would be refused with.
    ///
    /// # Cancel safety
    /// A dropped call has begun the run or not; [`resume`](crate::thread::Thread::resume) finds out.
    pub async fn iter(self) -> Result<Option<Steps<R::Machine>>, Error> {
        Ok(self.start().await?.map(Steps))
    }
}

impl<M: Machine> std::fmt::Debug for Steps<M> {
    /// By name: what a node carries may be nobody's business.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let planned = self.planned();
        f.debug_struct("Steps").field("planned", &planned.as_ref().map(AnyNode::name)).finish()
    }
}
