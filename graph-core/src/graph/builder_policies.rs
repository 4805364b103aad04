//! Builder methods for policies, cache policies and error handlers.

use crate::StateGraph;
use crate::cache::CachePolicy;
use crate::graph::policies::DraftCache;
use crate::node::{KeyBy, KeyFor, KeyReturns, Shape, SingleNode};
use crate::options::FailureMode;
use crate::policy::IntoPolicy;
use crate::state::GraphState;

use super::{ErrorHandler, HandlerReads, Handles, Reads, Returns};

impl<S: GraphState, D: Send + Sync + 'static> StateGraph<S, D> {
    /// Sets the policy of a node: how often it is tried, and how long an attempt may take. Takes a
    /// [`Policy`](crate::policy::Policy), or a [`Retry`](crate::policy::Retry) alone. The
    /// [default policy](Self::default_policy) supplies every setting that the policy leaves out.
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
    pub fn policy<N, M>(mut self, node: N, policy: impl IntoPolicy) -> Self
    where
        N: Shape<M>,
        N::Body: SingleNode,
    {
        self.draft.policies.of_nodes.push((node.into_body().node_ref(), policy.into_policy()));
        self
    }

    /// Sets the policy of all nodes. A node's own policy overrides it, setting by setting.
    pub fn default_policy(mut self, policy: impl IntoPolicy) -> Self {
        self.draft.policies.default = policy.into_policy();
        self
    }

    /// Caches the results of a node: a task whose key is in the cache takes the stored result and does not run the
    /// node. The cache works across runs and threads. It has to be set with
    /// [`Graph::with_cache`](crate::Graph::with_cache). See [`cache`](crate::cache).
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
    /// A result is the update and the route that the node returned. It is cached after it has been applied. Never
    /// cached are:
    /// - failures, and results that the state has refused
    /// - results of an [error handler](Self::on_error)
    /// - results that depend on an [answer](crate::Context::interrupt)
    ///
    /// On a hit the node's policy has no effect, because nothing runs.
    pub fn cache<N, M, K, MK>(mut self, node: N, cached: CachePolicy<K>) -> Self
    where
        N: Shape<M>,
        N::Body: SingleNode,
        K: KeyBy<MK>,
        K::Signature: Reads<S, D> + KeyReturns + KeyFor<S, D, K>,
    {
        let packet = <K::Signature as KeyFor<S, D, K>>::packet();
        let key = <K::Signature as KeyFor<S, D, K>>::erase(cached.key);
        let cache = DraftCache { key, packet, ttl: cached.ttl };
        self.draft.policies.caches.push((node.into_body().node_ref(), cache));
        self
    }

    /// Sets an error handler: a function that runs in place of a node that has failed, after the last attempt that its
    /// [policy](Self::policy) allows.
    ///
    /// The handler is written like a node and can also read the [`NodeFailure`](crate::NodeFailure). Its result becomes
    /// the result of the task, and the superstep continues:
    /// - Its update is applied where the node's update would have been.
    /// - Without a route of its own it leaves as the node does, by edges or a route function.
    /// - A route that it returns decides instead. If the node returns a route, the handler has to return one too.
    ///
    /// ```
    /// # use superstep::{END, GraphState, NodeFailure, Result, START, StateGraph, bail};
    /// # #[derive(GraphState, Clone)]
    /// # struct Page { text: String }
    /// async fn fetch(_: &Page) -> Result<PageUpdate> {
    ///     bail!("the server does not answer")
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
    /// assert_eq!(graph.run(Page::input()).await?.state().text, "we are sorry: the server does not answer");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// A handler can interrupt and take durable steps of its own; it does not share those of the node. It runs once,
    /// without a policy. If it fails, the task fails with the handler's error, and
    /// [`handled`](crate::NodeFailure::handled) has the first one.
    ///
    /// The handler does not run for:
    /// - mistakes in the node's use of this library
    /// - failures of the checkpoint store
    /// - results that are refused when a superstep is applied (by a rule, a reducer or a route function)
    ///
    /// # Durability
    /// On a thread, the failure is durable before the handler begins. If the process dies during the handler, a resumed
    /// run calls the handler and does not run the node again. Only the error's message is left of it then: see
    /// [`stored`](field@crate::NodeFailure::stored). With [`Durability::Exit`](crate::Durability::Exit) a crash loses
    /// the run, and the failure with it.
    pub fn on_error<N, M, H, MH>(mut self, node: N, handler: H) -> Self
    where
        N: Shape<M>,
        N::Body: SingleNode,
        H: Shape<MH>,
        H::Signature: HandlerReads<S, D> + Returns<S> + ErrorHandler<S, D, H::Body>,
    {
        let handler = <H::Signature as Handles<S, D, H::Body>>::handler(handler.into_body());
        self.draft.policies.handlers.push((node.into_body().node_ref(), Some(handler)));
        self
    }

    /// Removes the [default error handler](Self::default_on_error) from a node: when the node fails, its superstep
    /// fails.
    pub fn no_on_error<N, M>(mut self, node: N) -> Self
    where
        N: Shape<M>,
        N::Body: SingleNode,
    {
        self.draft.policies.handlers.push((node.into_body().node_ref(), None));
        self
    }

    /// Sets the error handler of all nodes without their own, except those with [`no_on_error`](Self::no_on_error).
    pub fn default_on_error<H, MH>(mut self, handler: H) -> Self
    where
        H: Shape<MH>,
        H::Signature: HandlerReads<S, D> + Returns<S> + ErrorHandler<S, D, H::Body>,
    {
        let handler = <H::Signature as Handles<S, D, H::Body>>::handler(handler.into_body());
        self.draft.policies.default_handler = Some(handler);
        self
    }

    /// Sets the treatment of the other tasks of a superstep in which one has failed. An option of a run overrides it.
    pub fn on_failure(mut self, mode: FailureMode) -> Self {
        self.draft.failure_mode = mode;
        self
    }
}
