//! What becomes of nodes that fail, take too long, or have returned the same before: the part of the builder that says so.

use crate::StateGraph;
use crate::cache::CachePolicy;
use crate::engine::FailureMode;
use crate::node::{Body, KeyBy, KeyFor, KeyReads, KeyReturns, Shape};
use crate::policy::Policy;
use crate::state::GraphState;

use super::caching::DraftCache;
use super::{HandlerReads, Handles, Returns};

impl<S: GraphState, D: Send + Sync + 'static> StateGraph<S, D> {
    /// Says how often a node is tried and how long an attempt of it may take: with a [`Policy`], or a
    /// [`Retry`](crate::policy::Retry) alone. What the policy does not say is as in the
    /// [default policy](Self::default_policy).
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use superstep::{END, GraphState, START, StateGraph};
    /// # use superstep::policy::{Policy, Retry};
    /// # #[derive(GraphState, Clone)]
    /// # struct Page { text: String }
    /// # async fn fetch(_: &Page) -> superstep::Result<PageUpdate> { Ok(Page::update()) }
    /// let graph = StateGraph::<Page>::new()
    ///     .edge(START, fetch)
    ///     .edge(fetch, END)
    ///     .policy(fetch, Policy::new().retry(Retry::attempts(3).jitter()).timeout(Duration::from_secs(10)))
    ///     .compile()?;
    /// # Ok::<(), superstep::Error>(())
    /// ```
    pub fn policy<N, M, F>(mut self, node: N, policy: impl Into<Policy>) -> Self
    where
        N: Shape<M, Body = Body<F>>,
    {
        self.draft.policies.of_nodes.push((node.into_body().node, policy.into()));
        self
    }

    /// The policy of all nodes, as far as a node's own does not say otherwise.
    pub fn default_policy(mut self, policy: impl Into<Policy>) -> Self {
        self.draft.policies.default = policy.into();
        self
    }

    /// Lets what a node has returned once stand for running it again, wherever its key is the same: in this run and in others,
    /// on this thread and on others. The graph has to be given a [cache](crate::Graph::with_cache). See
    /// [`cache`](crate::cache).
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use superstep::{END, GraphState, START, StateGraph};
    /// # use superstep::cache::CachePolicy;
    /// # #[derive(GraphState, Clone)]
    /// # struct Page { url: String, text: String }
    /// # async fn fetch(_: &Page) -> PageUpdate { Page::update() }
    /// let graph = StateGraph::<Page>::new()
    ///     .edge(START, fetch)
    ///     .edge(fetch, END)
    ///     .cache(fetch, CachePolicy::by(|page: &Page| page.url.clone()).ttl(Duration::from_secs(3600)))
    ///     .compile()?;
    /// # Ok::<(), superstep::Error>(())
    /// ```
    ///
    /// What is kept is what the node has returned, its update and its route, once it has been applied: no failure, nothing that
    /// an [error handler](Self::on_error) returns, nothing that the state has refused, and no result that hangs on an
    /// [answer](crate::Context::interrupt). On a hit the node does not run, and its policy has nothing to do.
    pub fn cache<N, M, F, K, MK>(mut self, node: N, cached: CachePolicy<K>) -> Self
    where
        N: Shape<M, Body = Body<F>>,
        K: KeyBy<MK>,
        K::Signature: KeyReads<S, D> + KeyReturns + KeyFor<S, D, K>,
    {
        let packet = <K::Signature as KeyFor<S, D, K>>::packet();
        let key = <K::Signature as KeyFor<S, D, K>>::erase(cached.key);
        let cache = DraftCache { key, packet, ttl: cached.ttl };
        self.draft.policies.caches.push((node.into_body().node, cache));
        self
    }

    /// Lets a function take the place of a node that has failed, once its [policy](Self::policy) has nothing left to try.
    ///
    /// It is written like a node, and reads the [`NodeFailure`](crate::NodeFailure) besides. What it returns is the result of
    /// the task: its update is applied where the node's would have been, and the superstep goes on. Without a route of its own
    /// it leaves as the node does, by edges or a route function; a route that it returns leads elsewhere. Where the node's
    /// result is its route, the handler has to return one too.
    ///
    /// ```
    /// # use superstep::{END, GraphState, NodeFailure, Result, START, StateGraph, bail};
    /// # #[derive(GraphState, Clone)]
    /// # struct Page { text: String }
    /// async fn fetch(_: &Page) -> Result<PageUpdate> {
    ///     bail!("nobody is there")
    /// }
    ///
    /// async fn apologize(_: &Page, failure: &NodeFailure) -> PageUpdate {
    ///     Page::update().text(format!("we are sorry: {}", failure.error))
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> superstep::Result<()> {
    /// let graph = StateGraph::<Page>::new()
    ///     .edge(START, fetch)
    ///     .edge(fetch, END)
    ///     .on_error(fetch, apologize)
    ///     .compile()?;
    /// assert_eq!(graph.run(Page::input()).await?.state().text, "we are sorry: nobody is there");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// A handler may ask and take durable steps; those of the node are not its own. It is asked once, and no policy is for it:
    /// when it fails, the task has failed with its error ([`handled`](crate::NodeFailure::handled) is the first). What is
    /// wrong with a node's use of this library, failures of the store, and what is refused when a superstep is applied (a
    /// rule, a reducer, a route function) it is not asked about.
    ///
    /// # Durability
    /// On a thread, the failure is durable before the handler begins (not with
    /// [`Durability::Exit`](crate::Durability::Exit), where a crash loses the run): should the process die then, a resumed
    /// run asks the handler and does not run the node. What is left of the error is its text then
    /// ([`stored`](field@crate::NodeFailure::stored)).
    pub fn on_error<N, M, F, H, MH>(mut self, node: N, handler: H) -> Self
    where
        N: Shape<M, Body = Body<F>>,
        H: Shape<MH>,
        H::Signature: HandlerReads<S, D> + Returns<S> + Handles<S, D, H::Body>,
    {
        let handler = <H::Signature as Handles<S, D, H::Body>>::handler(handler.into_body());
        self.draft.policies.handlers.push((node.into_body().node, Some(handler)));
        self
    }

    /// Lets a failure of the node be a failure of the superstep, whatever the graph's
    /// [default error handler](Self::default_on_error) is.
    pub fn no_on_error<N, M, F>(mut self, node: N) -> Self
    where
        N: Shape<M, Body = Body<F>>,
    {
        self.draft.policies.handlers.push((node.into_body().node, None));
        self
    }

    /// The error handler of all nodes that have none of their own, and are not said to have [none](Self::no_on_error).
    pub fn default_on_error<H, MH>(mut self, handler: H) -> Self
    where
        H: Shape<MH>,
        H::Signature: HandlerReads<S, D> + Returns<S> + Handles<S, D, H::Body>,
    {
        let handler = <H::Signature as Handles<S, D, H::Body>>::handler(handler.into_body());
        self.draft.policies.default_handler = Some(handler);
        self
    }

    /// What becomes of a failed node's siblings, unless a run says otherwise.
    pub fn on_failure(mut self, mode: FailureMode) -> Self {
        self.draft.failure_mode = mode;
        self
    }
}
