use super::GraphState;

/// A state that is the state `S` or is flattened into it.
///
/// With it, a node that reads `&MessagesState` runs in every graph whose state has
/// `#[state(flatten)] chat: MessagesState`. It follows from [`Holds`].
#[diagnostic::on_unimplemented(
    message = "a node of this graph cannot read `{Self}`",
    label = "reads `{Self}`, which is neither the state `{S}` nor flattened into it",
    note = "a node reads `&{S}`, a view of it (`#[derive(StateView)]`), `&Context`, `&ContextWith<_>` or a packet"
)]
pub trait PartOf<S> {
    /// Returns the part of `whole`.
    fn part(whole: &S) -> &Self;
}

/// A state into which the state `P` is flattened. Every state holds itself. Implemented by the derive.
///
/// The flattened state may come from another crate and does not know its owners. `Holds` is not transitive: a state
/// holds a state that is flattened into it directly, but not one that is flattened into that.
#[diagnostic::on_unimplemented(
    message = "`{P}` is not a part of the state `{Self}`",
    label = "reads or writes `{P}`, which is neither the state `{Self}` nor flattened into it",
    note = "to make it a part, flatten it into the state: `#[state(flatten)] part: {P}`"
)]
pub trait Holds<P>: GraphState {
    /// The update of the part.
    type Part;

    /// Returns the part.
    fn held(&self) -> &P;

    /// Converts an update of the part into an update of the whole state.
    fn lift(update: Self::Part) -> Self::Update;
}

#[diagnostic::do_not_recommend]
impl<P: GraphState, S: Holds<P>> PartOf<S> for P {
    #[inline]
    fn part(whole: &S) -> &P {
        whole.held()
    }
}
