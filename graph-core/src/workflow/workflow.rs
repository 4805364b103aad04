use crate::error::Error;
use crate::graph::Graph;
use crate::node::{Payload, Shape};
use crate::policy::Policy;

use super::signature::{Alone, Gives, RunsAlone, Takes};
use super::{Flow, Returned};

/// Makes a graph of one async function.
///
/// See [the module](super) for what the function may take and return.
pub struct Workflow<I, R, D = ()> {
    function: Box<dyn Alone<I, R, D>>,
    name: Option<String>,
    aliases: Vec<String>,
    policy: Policy,
}

impl<I, R> Workflow<I, R> {
    /// The workflow of this function, which gives it its name; [`named`](crate::named) gives another.
    pub fn new<F, M>(function: F) -> Self
    where
        F: Shape<M>,
        F::Signature: Takes<Input = I> + Gives<Returned = R> + RunsAlone<I, R, (), F::Body>,
    {
        Self::of(<F::Signature as RunsAlone<I, R, (), F::Body>>::function(function.into_body()))
    }
}

impl<I, R, D> Workflow<I, R, D> {
    /// The workflow of a function that takes `&ContextWith<D>`: its runs are given a context of that type.
    pub fn with_context<F, M>(function: F) -> Self
    where
        F: Shape<M>,
        F::Signature: Takes<Input = I> + Gives<Returned = R> + RunsAlone<I, R, D, F::Body>,
    {
        Self::of(<F::Signature as RunsAlone<I, R, D, F::Body>>::function(function.into_body()))
    }

    fn of(function: Box<dyn Alone<I, R, D>>) -> Self {
        Self { function, name: None, aliases: Vec::new(), policy: Policy::new() }
    }

    /// Names the graph, for errors and logs, if not like its function.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// A name that the function had before, so that what was stored under it is found.
    pub fn alias(mut self, alias: impl Into<String>) -> Self {
        self.aliases.push(alias.into());
        self
    }

    /// What becomes of the function when it fails or takes too long: a [`Policy`], or a
    /// [`Retry`](crate::policy::Retry) alone. A retry runs it from its top; the
    /// [steps](crate::Context::step) that it has finished are not taken again.
    pub fn policy(mut self, policy: impl Into<Policy>) -> Self {
        self.policy = policy.into();
        self
    }
}

impl<I: Payload, R: Returned, D: Send + Sync + 'static> Workflow<I, R, D> {
    /// Makes the graph.
    ///
    /// # Errors
    /// [`Wiring`](crate::ErrorKind::Wiring): the function has no name of its own, or the policy contradicts itself.
    pub fn compile(self) -> Result<Graph<Flow<I, R>, D>, Error> {
        let node = self.function.node().clone();
        let mut graph = self.function.graph().default_policy(self.policy);
        for alias in self.aliases {
            graph = graph.alias_of(node.clone(), alias);
        }
        match self.name {
            Some(name) => graph.name(name),
            None => graph,
        }
        .compile()
    }
}

impl<I, R, D> std::fmt::Debug for Workflow<I, R, D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Workflow").field("function", &self.function.node().name()).finish_non_exhaustive()
    }
}
