use std::sync::Arc;

/// A value that is the application context `D` of a graph: a `D`, or an `Arc<D>`.
#[diagnostic::on_unimplemented(
    message = "this is not the context of the graph",
    label = "expected `{D}` or `Arc<{D}>`, found `{Self}`",
    note = "`StateGraph::<_>::with_context::<{D}>()` has chosen the type of the context; a graph without it has the context `()`"
)]
pub trait IntoContext<D> {
    #[doc(hidden)]
    fn into_context(self) -> Arc<D>;
}

#[diagnostic::do_not_recommend]
impl<D> IntoContext<D> for D {
    fn into_context(self) -> Arc<D> {
        Arc::new(self)
    }
}

#[diagnostic::do_not_recommend]
impl<D> IntoContext<D> for Arc<D> {
    fn into_context(self) -> Arc<D> {
        self
    }
}
