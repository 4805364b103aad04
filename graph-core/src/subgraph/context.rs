use std::sync::Arc;

use crate::engine::ContextWith;

/// The source of a subgraph's context: made from the parent graph's context `D`.
#[diagnostic::on_unimplemented(
    message = "a graph with the context `{D}` cannot provide the context of this subgraph",
    label = "the subgraph's context is `{C}`, the graph's context is `{D}`",
    note = "make it with `.context_from(|outer| ..)`, or use `.without_context()` for a subgraph without a context"
)]
pub trait MakesContext<D, C>: Send + Sync + 'static {
    #[doc(hidden)]
    fn context(&self, outer: &ContextWith<D>) -> Arc<C>;
}

/// The subgraph has the context of its parent graph.
#[derive(Clone, Copy, Debug)]
pub struct SameContext;

/// The subgraph has no context.
#[derive(Clone, Copy, Debug)]
pub struct NoContext;

/// The subgraph's context is made from the context of its parent graph by a function.
#[derive(Clone, Debug)]
pub struct ContextFrom<F>(pub(super) F);

impl<D: Send + Sync + 'static> MakesContext<D, D> for SameContext {
    fn context(&self, outer: &ContextWith<D>) -> Arc<D> {
        outer.shared_context()
    }
}

impl<D> MakesContext<D, ()> for NoContext {
    fn context(&self, _: &ContextWith<D>) -> Arc<()> {
        Arc::new(())
    }
}

impl<D, C, R, F> MakesContext<D, C> for ContextFrom<F>
where
    F: Fn(&D) -> R + Send + Sync + 'static,
    R: Into<Arc<C>>,
{
    fn context(&self, outer: &ContextWith<D>) -> Arc<C> {
        (self.0)(outer.context()).into()
    }
}
