//! The ways out of a node: the exits of its route, and commands to the parent graph.

use std::any::TypeId;

use crate::erased::{Packet, PacketType, Payload, ReadPacket, StateType, TaskWrites};
use crate::error::NodeError;
use crate::reducers::Stamp;
use crate::state::EncodeError;

use super::exit_target::{ExitTarget, States};
use super::identity::NodeRef;
use super::prepare::prepare;
use super::stored_update::{StoredUpdate, UnreadableUpdate, decode, encode};

/// One exit of a node.
#[derive(Clone, Debug)]
pub struct Exit {
    /// The variant's name, for pictures and messages.
    pub label: &'static str,
    /// The nodes to which it leads. [`END`](super::identity::END) ends the branch.
    pub to: Vec<NodeRef>,
    /// For each of them, the states that it reads. `None` for a name.
    pub(crate) states: Vec<Option<States>>,
    /// The type of its payload.
    pub packet: Option<PacketType>,
}

/// The choice of an exit.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The index in [`Route::exits`](super::Route::exits).
    pub exit: usize,
    /// The variant's payload.
    pub packet: Option<Packet>,
}

impl Exit {
    #[doc(hidden)]
    pub fn __new<const N: usize>(label: &'static str, to: [ExitTarget; N]) -> Self {
        let (to, states) = to.into_iter().map(|target| (target.node, target.states)).unzip();
        Self { label, to, states, packet: None }
    }

    #[doc(hidden)]
    pub fn __with_packet<P: 'static, const N: usize>(
        label: &'static str,
        to: [ExitTarget; N],
        read: Option<ReadPacket>,
    ) -> Self {
        Self { packet: Some(PacketType::of::<P>().read_by(read)), ..Self::__new(label, to) }
    }
}

impl Choice {
    #[doc(hidden)]
    pub fn __new(exit: usize) -> Self {
        Self { exit, packet: None }
    }

    #[doc(hidden)]
    pub fn sends<P: Payload>(exit: usize, payload: P) -> Self {
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
    /// Returns `true` if dropping the value does nothing.
    #[inline]
    pub(crate) fn holds_nothing(&self) -> bool {
        matches!(self, Self::ByEdges | Self::By(Choice { packet: None, .. }))
    }

    /// Shifts the numbers of the exits by `first`.
    pub(crate) fn count_from(&mut self, first: usize) {
        match self {
            Self::ByEdges | Self::ErasedParentCommand(_) => {}
            Self::By(choice) => choice.exit += first,
            Self::ByAll(choices) => choices.iter_mut().for_each(|choice| choice.exit += first),
        }
    }

    /// Returns the exits that were taken. None are taken along edges, nor by a parent command in its own graph.
    pub(crate) fn choices(&self) -> &[Choice] {
        match self {
            Self::ByEdges | Self::ErasedParentCommand(_) => &[],
            Self::By(choice) => std::slice::from_ref(choice),
            Self::ByAll(choices) => choices,
        }
    }

    /// Returns the way through these exits.
    pub(crate) fn through(mut choices: Vec<Choice>) -> Self {
        match (choices.len(), choices.pop()) {
            (1, Some(choice)) => Self::By(choice),
            (_, last) => {
                choices.extend(last);
                Self::ByAll(choices)
            }
        }
    }
}

/// A type-erased [`ParentCommand`](super::ParentCommand).
#[derive(Clone)]
pub struct ErasedParentCommand {
    /// The update of the parent state.
    pub(super) update: Option<TaskWrites>,
    /// The chosen exits, with the type of the route; see [`ParentCommandType`].
    pub(crate) leave: Option<Box<(TypeId, Leave)>>,
    /// The parent state.
    pub(crate) state: &'static StateType,
    /// The exits of the route.
    pub(crate) exits: fn() -> Vec<Exit>,
}

/// The type of a parent command that a node may return.
#[derive(Clone, Debug)]
pub struct ParentCommandType {
    /// The parent state.
    pub(crate) state: &'static StateType,
    /// The route.
    pub(crate) route: TypeId,
    /// The exits of the route.
    pub(crate) exits: Vec<Exit>,
    pub(crate) to_exits: fn() -> Vec<Exit>,
}

impl ParentCommandType {
    /// Builds a stored command from its update and its chosen exits.
    pub(crate) fn read(
        &self,
        update: Option<StoredUpdate>,
        leave: Option<Leave>,
    ) -> Result<ErasedParentCommand, UnreadableUpdate> {
        let update = update.map(|update| decode(self.state, update)).transpose()?;
        let leave = leave.map(|leave| Box::new((self.route, leave)));
        Ok(ErasedParentCommand { update, leave, state: self.state, exits: self.to_exits })
    }
}

impl ErasedParentCommand {
    /// Returns `true` if there is an update, of any state.
    pub(crate) fn writes(&self) -> bool {
        self.update.is_some()
    }

    /// Returns the update, if it is of this state.
    pub(crate) fn update(&self, state: &StateType) -> Option<&TaskWrites> {
        self.update.as_ref().filter(|_| self.state.id == state.id)
    }

    /// Runs the first phase of the reducers on the update.
    pub(crate) fn prepare(&mut self, stamp: Stamp<'_>) -> Result<(), NodeError> {
        match &mut self.update {
            Some(update) => prepare(update, stamp),
            None => Ok(()),
        }
    }

    /// Encodes the update for a checkpoint.
    pub(crate) fn stored(&self) -> Result<Option<StoredUpdate>, EncodeError> {
        self.update.as_ref().map(|update| encode(self.state, update)).transpose()
    }
}

impl std::fmt::Debug for ErasedParentCommand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ErasedParentCommand").finish_non_exhaustive()
    }
}
