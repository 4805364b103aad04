use std::marker::PhantomData;

use crate::state::{GraphState, PartOf};

use super::param::{Extract, FixedParam, IsView, NoPacket, Source};
use crate::step::ReadState;

/// A part of a state, which a node takes by value; implemented by `#[derive(StateView)]`.
///
/// It is implemented for the view without its lifetime: `Question<'static>`.
pub trait View: 'static {
    /// The state that the view is a part of.
    type Of: GraphState;
    /// The view for the lifetime `'a`.
    type At<'a>: Send;

    /// Returns the view of `state`.
    fn view(state: &Self::Of) -> Self::At<'_>;
}

/// The lifetime-free name of a view as a parameter.
pub struct Viewed<V>(PhantomData<fn() -> V>);

impl<V: View> FixedParam for Viewed<V> {
    type Role = IsView;
    type Packet = NoPacket;
    type At<'a> = V::At<'a>;

    fn state() -> Option<ReadState> {
        Some(ReadState::of::<V::Of>())
    }
}

impl<V: ViewIn<S>, S, D> Extract<S, D> for Viewed<V> {
    fn extract<'a>(from: Source<'a, S, D>) -> Option<V::At<'a>> {
        Some(V::view_in(from.state))
    }
}

/// A view of `S`, or of a state that is flattened into it.
#[diagnostic::on_unimplemented(
    message = "a node of this graph cannot take the view `{Self}`",
    label = "takes `{Self}`, which is neither a view of the state `{S}` nor of one that is flattened into it"
)]
pub trait ViewIn<S>: View {
    /// Returns the view of `whole`, or of the state that is flattened into it.
    fn view_in(whole: &S) -> Self::At<'_>;
}

#[diagnostic::do_not_recommend]
impl<V: View<Of: PartOf<S>>, S> ViewIn<S> for V {
    fn view_in(whole: &S) -> V::At<'_> {
        V::view(PartOf::part(whole))
    }
}
