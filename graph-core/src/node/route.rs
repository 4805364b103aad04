use super::outward::Outward;
use super::packet::ReadPacket;
use super::{NodeError, NodeRef, Packet, PacketType, Payload};

/// The ways out of a node, as an enum; implemented by `#[derive(Route)]`.
pub trait Route: Sized + Send + 'static {
    /// Every variant's destination, in the order of the variants.
    fn exits() -> Vec<Exit>;

    /// The variant that this value is, and its payload.
    fn into_choice(self) -> Choice;
}

/// One way out of a node.
#[derive(Clone, Debug)]
pub struct Exit {
    /// The variant's name, for pictures and messages.
    pub label: &'static str,
    /// The nodes it leads to; [`END`](crate::END) among them ends the branch.
    pub to: Vec<NodeRef>,
    /// The payload it carries.
    pub packet: Option<PacketType>,
}

/// The way out that was taken.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Which of [`Route::exits`].
    pub exit: usize,
    /// The variant's payload.
    pub packet: Option<Packet>,
}

impl Exit {
    #[doc(hidden)]
    pub fn __new<const N: usize>(label: &'static str, to: [NodeRef; N]) -> Self {
        Self { label, to: to.into(), packet: None }
    }

    #[doc(hidden)]
    pub fn __with_packet<P: 'static, const N: usize>(
        label: &'static str,
        to: [NodeRef; N],
        read: Option<ReadPacket>,
    ) -> Self {
        Self { label, to: to.into(), packet: Some(PacketType::of::<P>().read_by(read)) }
    }
}

impl Choice {
    #[doc(hidden)]
    pub fn __new(exit: usize) -> Self {
        Self { exit, packet: None }
    }

    #[doc(hidden)]
    pub fn __with_packet<P: Payload>(exit: usize, payload: P) -> Self {
        Self { exit, packet: Some(Packet::new(payload)) }
    }
}

/// How a task leaves its node.
#[derive(Clone, Debug)]
pub enum Leave {
    /// Along the edges of the graph.
    ByEdges,
    /// By one exit of the node's route.
    By(Choice),
    /// By several, in this order.
    ByAll(Vec<Choice>),
    /// Out of the subgraph that it is in.
    Outward(Box<Outward>),
}

impl Leave {
    /// Counts exits on from others.
    pub(crate) fn count_from(&mut self, first: usize) {
        match self {
            Self::ByEdges | Self::Outward(_) => {}
            Self::By(choice) => choice.exit += first,
            Self::ByAll(choices) => choices.iter_mut().for_each(|choice| choice.exit += first),
        }
    }
}

/// A route, or a list of routes taken together.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say where to go",
    label = "is not a route",
    note = "derive `Route` on an enum whose variants say `#[to(node)]`"
)]
pub trait IntoLeave {
    /// Where the value can lead to.
    fn exits() -> Vec<Exit>;

    /// Where it does lead to.
    ///
    /// # Errors
    /// An empty list: a map over nothing must say where to go instead.
    fn into_leave(self) -> Result<Leave, NodeError>;
}

impl<R: Route> IntoLeave for Vec<R> {
    fn exits() -> Vec<Exit> {
        R::exits()
    }

    fn into_leave(self) -> Result<Leave, NodeError> {
        if self.is_empty() {
            return Err(NodeError::msg(format!(
                "the list of routes `{}` is empty: when there is nothing to send, return a variant that says where to go instead",
                std::any::type_name::<R>()
            )));
        }
        Ok(Leave::ByAll(self.into_iter().map(Route::into_choice).collect()))
    }
}

impl<R: IntoLeave, E: super::Failure> IntoLeave for Result<R, E> {
    fn exits() -> Vec<Exit> {
        R::exits()
    }

    fn into_leave(self) -> Result<Leave, NodeError> {
        self.map_err(super::Failure::into_node_error)?.into_leave()
    }
}
