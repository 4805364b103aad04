use super::packet::ReadPacket;
use super::parent_command::ErasedParentCommand;
use super::{NodeError, NodeRef, Packet, PacketType, Payload};

/// The exits of a node as an enum; implemented by `#[derive(Route)]`.
pub trait Route: Sized + Send + 'static {
    /// Returns the exits, in the order of the variants.
    fn exits() -> Vec<Exit>;

    /// Converts the value into the choice of an exit.
    fn into_choice(self) -> Choice;
}

/// One exit of a node.
#[derive(Clone, Debug)]
pub struct Exit {
    /// The variant's name, for pictures and messages.
    pub label: &'static str,
    /// The nodes to which it leads. [`END`](crate::END) ends the branch.
    pub to: Vec<NodeRef>,
    /// The type of its payload.
    pub packet: Option<PacketType>,
}

/// The choice of an exit.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The index in [`Route::exits`].
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

/// The way in which a task leaves its node.
#[derive(Clone, Debug, Default)]
pub enum Leave {
    /// Along the edges of the graph.
    #[default]
    ByEdges,
    /// Through one exit of the node's route.
    By(Choice),
    /// Through several exits, in this order.
    ByAll(Vec<Choice>),
    /// Out of its subgraph, with a parent command.
    ErasedParentCommand(Box<ErasedParentCommand>),
}

impl Leave {
    /// Shifts the numbers of the exits by `first`.
    pub(crate) fn count_from(&mut self, first: usize) {
        match self {
            Self::ByEdges | Self::ErasedParentCommand(_) => {}
            Self::By(choice) => choice.exit += first,
            Self::ByAll(choices) => choices.iter_mut().for_each(|choice| choice.exit += first),
        }
    }
}

/// A route, or a list of routes that are all taken.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a route",
    label = "does not implement `Route`",
    note = "derive `Route` on an enum, with `#[to(node)]` on each variant"
)]
pub trait IntoLeave {
    /// Returns the possible exits.
    fn exits() -> Vec<Exit>;

    /// Converts the value into the chosen exits.
    ///
    /// # Errors
    /// The list is empty. A map-reduce over no items must return a variant that leads somewhere else.
    fn into_leave(self) -> Result<Leave, NodeError>;
}

impl<R: Route> IntoLeave for Vec<R> {
    fn exits() -> Vec<Exit> {
        R::exits()
    }

    fn into_leave(self) -> Result<Leave, NodeError> {
        if self.is_empty() {
            return Err(NodeError::msg(format!(
                "the list of routes `{}` is empty: when there is nothing to send, return a variant that leads to the next node or to END",
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
