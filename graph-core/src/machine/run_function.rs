use crate::node::{Shape, Signature};

/// The function `run` of the node `N` of a machine. Every async function is one; for any other, rustc names the node.
#[diagnostic::on_unimplemented(
    message = "the `run` of the node `{N}` is not an async function",
    label = "its `run` is not async",
    note = "write `async fn run(&self, ..)`, even if it awaits nothing; work that blocks belongs into `tokio::task::spawn_blocking`",
    note = "it has up to three parameters beside `&self`: the machine's state or a view of it, `&Context` or `&ContextWith<_>`"
)]
pub trait RunFunction<N, M> {
    /// The parameters.
    type Args;
    /// The output of the future.
    type Out;
}

#[diagnostic::do_not_recommend]
impl<F: Shape<M, Signature: OfFunction>, N, M> RunFunction<N, M> for F {
    type Args = <F::Signature as OfFunction>::Args;
    type Out = <F::Signature as OfFunction>::Out;
}

/// The signature of an async function.
pub trait OfFunction {
    /// The parameters.
    type Args;
    /// The output of the future.
    type Out;
}

impl<Args, Out> OfFunction for Signature<Args, Out> {
    type Args = Args;
    type Out = Out;
}
