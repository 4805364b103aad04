use std::any::TypeId;

use crate::erased::{StateTypeOf as _, WritesOf};
use crate::error::NodeError;
use crate::state::{GraphState, IntoUpdate, WrittenFields};

use super::leave::{ErasedParentCommand, Exit, Leave, ParentCommandType};
use super::route::IntoLeave;
use super::step::{IntoStep, Step};

/// A command from a node of a subgraph to the parent graph: an update of the parent state `P`, a route there, or both.
///
/// The subgraph ends with the superstep in which a node returns the command. Later nodes of the subgraph do not run.
///
/// The command replaces the result of the subgraph call:
///
/// - A subgraph with its own state does not return its output.
/// - In a subgraph on the parent's state, the writes of its nodes are applied first, then the update of the command.
///
/// A node that sometimes continues inside the subgraph returns an `Option` of it. With `None`, it continues along the
/// node's edges.
///
/// ```
/// use superstep::subgraph::ParentCommand;
/// use superstep::{END, GraphState, Route, START, StateGraph};
///
/// #[derive(GraphState, Clone)]
/// struct Ticket {
///     #[state(reducer = append)]
///     notes: Vec<String>,
/// }
///
/// #[derive(Route)]
/// enum Hand {
///     #[to("human")]
///     Over,
/// }
///
/// async fn look(_: &Ticket) -> ParentCommand<Ticket, Hand> {
///     ParentCommand::update(Ticket::update().notes(["too hard".to_owned()])).goto(Hand::Over)
/// }
/// async fn answer(_: &Ticket) -> TicketUpdate { Ticket::update().notes(["answered".to_owned()]) }
/// async fn human(_: &Ticket) -> TicketUpdate { Ticket::update().notes(["a person answers".to_owned()]) }
/// async fn close(_: &Ticket) -> TicketUpdate { Ticket::update().notes(["closed".to_owned()]) }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> superstep::Result<()> {
/// let bot = StateGraph::<Ticket>::new().edge(START, look).edge(look, answer).edge(answer, END).compile()?;
/// let bot = bot.as_node("bot");
/// let graph = StateGraph::<Ticket>::new()
///     .edge(START, &bot)
///     .edge(&bot, close)
///     .edge(close, END)
///     .edge(human, END)
///     .compile()?;
/// let ticket = graph.run(Ticket::input()).await?.into_state();
/// assert_eq!(ticket.notes, ["too hard", "a person answers"]);
/// # Ok(())
/// # }
/// ```
pub struct ParentCommand<P: GraphState, R = NoRoute> {
    update: Option<P::Update>,
    route: Option<R>,
}

/// The route of a command without one: the parent graph continues along its edges.
#[derive(Debug)]
pub enum NoRoute {}

impl<P: GraphState> ParentCommand<P> {
    /// Creates a command that updates the parent state.
    pub fn update(update: impl IntoUpdate<P>) -> Self {
        Self { update: Some(update.into_update()), route: None }
    }
}

impl<P: GraphState, R> ParentCommand<P, R> {
    /// Continues in the parent graph by a route. Its destinations are nodes of the parent graph.
    pub fn goto<Q: IntoLeave>(self, route: Q) -> ParentCommand<P, Q> {
        ParentCommand { update: self.update, route: Some(route) }
    }

    /// Creates a command that continues in the parent graph by a route, without an update.
    pub fn to(route: R) -> Self
    where
        R: IntoLeave,
    {
        Self { update: None, route: Some(route) }
    }
}

/// The route of a [`ParentCommand`]: a route, or [`NoRoute`].
pub trait ParentRoute: Send + 'static {
    #[doc(hidden)]
    fn exits() -> Vec<Exit>;

    #[doc(hidden)]
    fn leave(self) -> Result<Leave, NodeError>;
}

impl ParentRoute for NoRoute {
    fn exits() -> Vec<Exit> {
        Vec::new()
    }

    fn leave(self) -> Result<Leave, NodeError> {
        match self {}
    }
}

impl<R: IntoLeave + Send + 'static> ParentRoute for R {
    fn exits() -> Vec<Exit> {
        R::exits()
    }

    fn leave(self) -> Result<Leave, NodeError> {
        self.into_leave()
    }
}

impl<S: GraphState, P: GraphState, R: ParentRoute> IntoStep<S> for ParentCommand<P, R> {
    const WRITES: WrittenFields = WrittenFields::NONE;

    fn exits() -> Option<Vec<Exit>> {
        None
    }

    fn parent_commands() -> Vec<ParentCommandType> {
        vec![ParentCommandType {
            state: P::TYPE,
            route: TypeId::of::<R>(),
            exits: R::exits(),
            to_exits: R::exits,
        }]
    }

    fn into_step(self) -> Result<Step<S>, NodeError> {
        let leave = self.route.map(ParentRoute::leave).transpose()?;
        let command = ErasedParentCommand {
            update: self.update.map(WritesOf::<P>::erase),
            leave: leave.map(|leave| Box::new((TypeId::of::<R>(), leave))),
            state: P::TYPE,
            exits: R::exits,
        };
        Ok(Step { update: S::Update::default(), leave: Leave::ErasedParentCommand(Box::new(command)) })
    }
}

impl<S: GraphState, P: GraphState, R: ParentRoute> IntoStep<S> for Option<ParentCommand<P, R>> {
    const WRITES: WrittenFields = WrittenFields::NONE;

    fn exits() -> Option<Vec<Exit>> {
        None
    }

    fn parent_commands() -> Vec<ParentCommandType> {
        <ParentCommand<P, R> as IntoStep<S>>::parent_commands()
    }

    fn into_step(self) -> Result<Step<S>, NodeError> {
        match self {
            Some(command) => command.into_step(),
            None => Ok(Step::update(S::Update::default())),
        }
    }
}

impl<P: GraphState, R> std::fmt::Debug for ParentCommand<P, R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ParentCommand").field("update", &self.update.is_some()).finish_non_exhaustive()
    }
}
