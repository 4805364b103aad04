use super::GraphState;

/// A state that is, or is flattened into, the state `S`.
///
/// It is what lets a node that reads `&MessagesState` run in every graph whose state has
/// `#[state(flatten)] chat: MessagesState`. It follows from [`Holds`].
#[diagnostic::on_unimplemented(
    message = "a node of this graph cannot read `{Self}`",
    label = "reads `{Self}`, which is neither the state `{S}`, nor flattened into it",
    note = "a node reads `&{S}`, a view of it (`#[derive(StateView)]`), `&Context`, `&ContextWith<_>` or a packet"
)]
pub trait PartOf<S> {
    /// The part inside `whole`.
    fn part(whole: &S) -> &Self;
}

/// A state into which the state `P` is flattened; every state holds itself. Implemented by the derive.
///
/// The state that is flattened may come from another crate: it knows nothing of its owners. A state holds what is
/// flattened into it, not what is flattened into that in turn.
#[diagnostic::on_unimplemented(
    message = "`{P}` is not a part of the state `{Self}`",
    label = "reads or writes `{P}`, which is neither the state `{Self}`, nor flattened into it",
    note = "a part is a field `#[state(flatten)] part: {P}`"
)]
pub trait Holds<P>: GraphState {
    /// The part's update.
    type Part;

    /// The part.
    fn held(&self) -> &P;

    /// An update of the part, as one of the whole.
    fn lift(update: Self::Part) -> Self::Update;
}

#[diagnostic::do_not_recommend]
impl<P: GraphState, S: Holds<P>> PartOf<S> for P {
    #[inline]
    fn part(whole: &S) -> &P {
        whole.held()
    }
}
