/// A state that is, or is flattened into, the state `S`.
///
/// It is what lets a node that reads `&MessagesState` run in every graph whose state has
/// `#[state(flatten)] chat: MessagesState`. Implemented by the derive.
#[diagnostic::on_unimplemented(
    message = "a node of this graph cannot read `{Self}`",
    label = "reads `{Self}`, which is neither the state `{S}`, nor flattened into it",
    note = "a node reads `&{S}`, a view of it (`#[derive(StateView)]`), `&Cx`, `&Ctx<_>` or a packet"
)]
pub trait PartOf<S> {
    /// The part inside `whole`.
    fn part(whole: &S) -> &Self;
}
