use std::marker::PhantomData;

use crate::StateGraph;
use crate::erased::Payload;
use crate::error::Error;
use crate::graph::Graph;
use crate::node::Shape;
use crate::policy::{IntoPolicy, Policy};

use super::signature::{FunctionInput, FunctionOutput, OnlyFunction, OnlyNode, RunsAlone};
use super::{Flow, WorkflowResult};

/// Builds a graph of one async function.
///
/// See [the module](super) for the parameters and the return type of the function.
#[must_use = "a workflow does nothing until it is compiled"]
pub struct Workflow<I, R, D = ()> {
    node: OnlyNode,
    name: Option<String>,
    aliases: Vec<String>,
    policy: Policy,
    types: PhantomData<fn(I, R, D)>,
}

impl<I, R> Workflow<I, R> {
    /// Creates the workflow of a function. It has the function's name; use [`named`](crate::named) for another one.
    pub fn new<F, M>(function: F) -> Self
    where
        F: Shape<M>,
        F::Signature:
            FunctionInput<Input = I> + FunctionOutput<WorkflowResult = R> + OnlyFunction<I, R, (), F::Body>,
    {
        Self::of(<F::Signature as RunsAlone<I, R, (), F::Body>>::only_node(function.into_body()))
    }
}

impl<I, R, D> Workflow<I, R, D> {
    /// Creates the workflow of a function that takes `&ContextWith<D>`. Its runs need a context of that type.
    pub fn with_context<F, M>(function: F) -> Self
    where
        F: Shape<M>,
        F::Signature:
            FunctionInput<Input = I> + FunctionOutput<WorkflowResult = R> + OnlyFunction<I, R, D, F::Body>,
    {
        Self::of(<F::Signature as RunsAlone<I, R, D, F::Body>>::only_node(function.into_body()))
    }

    fn of(node: OnlyNode) -> Self {
        Self { node, name: None, aliases: Vec::new(), policy: Policy::new(), types: PhantomData }
    }

    /// Sets the graph's name for errors and logs. The default is the function's name.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Adds an earlier name of the function, so that checkpoints stored under that name still find it.
    pub fn alias(mut self, alias: impl Into<String>) -> Self {
        self.aliases.push(alias.into());
        self
    }

    /// Sets the policy of the function: retries, timeouts and backoff. Takes a [`Policy`], or a
    /// [`Retry`](crate::policy::Retry) alone. A retry runs the function from its beginning, but does not repeat its
    /// finished [steps](crate::Context::step).
    pub fn policy(mut self, policy: impl IntoPolicy) -> Self {
        self.policy = policy.into_policy();
        self
    }
}

impl<I: Payload, R: WorkflowResult, D: Send + Sync + 'static> Workflow<I, R, D> {
    /// Builds the graph.
    ///
    /// # Errors
    /// [`Wiring`](crate::ErrorKind::Wiring) if the function has no name of its own, or the policy is invalid.
    pub fn compile(self) -> Result<Graph<Flow<I, R>, D>, Error> {
        let OnlyNode { node, run, function } = self.node;
        let mut graph = StateGraph::<Flow<I, R>>::with_context::<D>()
            .name(self.name.unwrap_or_else(|| node.name().to_owned()))
            .default_policy(self.policy)
            .alone(node.clone(), run, function);
        for alias in self.aliases {
            graph = graph.alias_of(node.clone(), alias);
        }
        graph.compile()
    }
}

impl<I, R, D> std::fmt::Debug for Workflow<I, R, D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Workflow").field("function", &self.node.node.name()).finish_non_exhaustive()
    }
}
