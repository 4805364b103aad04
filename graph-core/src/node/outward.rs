use std::any::TypeId;
use std::sync::Arc;

use crate::reducers::Stamp;
use crate::state::{EncodeError, GraphState};

use super::said::{AnyUpdate, StoredUpdate, Unread, decode, encode, prepared};
use super::{Exit, IntoLeave, IntoStep, Leave, NodeError, Step};

/// What a node of a subgraph says to the graph around it: an update of that graph's state `P`, a route there, or both.
///
/// The subgraph ends with the superstep in which it is said; what follows the node in the subgraph does not run. It is said in
/// the place of what the subgraph would have returned: of one with a state of its own the output is not asked; of one on the
/// state around it, what its nodes have written comes before the update.
///
/// A node that sometimes goes on within the subgraph returns an `Option` of it: `None` goes on by the node's edges.
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
pub struct ParentCommand<P: GraphState, R = Stay> {
    update: Option<P::Update>,
    route: Option<R>,
}

/// No route is said: the graph around the subgraph goes on by its edges.
#[derive(Debug)]
pub enum Stay {}

impl<P: GraphState> ParentCommand<P> {
    /// Writes to the state of the graph around the subgraph.
    pub fn update(update: P::Update) -> Self {
        Self { update: Some(update), route: None }
    }
}

impl<P: GraphState, R> ParentCommand<P, R> {
    /// Goes on there by a route whose destinations are nodes of that graph.
    pub fn goto<Q: IntoLeave>(self, route: Q) -> ParentCommand<P, Q> {
        ParentCommand { update: self.update, route: Some(route) }
    }

    /// Goes on there by a route, and writes nothing.
    pub fn to(route: R) -> Self
    where
        R: IntoLeave,
    {
        Self { update: None, route: Some(route) }
    }
}

/// What may be said of where to go on: a route, or nothing.
pub trait ParentRoute: Send + 'static {
    #[doc(hidden)]
    fn exits() -> Vec<Exit>;

    #[doc(hidden)]
    fn leave(self) -> Result<Leave, NodeError>;
}

impl ParentRoute for Stay {
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

/// What is said to the graph around a subgraph, whatever its state is.
#[derive(Clone)]
pub struct Outward {
    /// An update of its state.
    update: Option<AnyUpdate>,
    /// Where to go on, by the exits of one of the types that [`OutwardType`] names.
    pub(crate) leave: Option<Box<(TypeId, Leave)>>,
    of: OutwardForm,
}

/// What a node may say to the graph around its own.
#[derive(Clone, Debug)]
pub struct OutwardType {
    /// The state of that graph.
    pub(crate) state: TypeId,
    /// The route.
    pub(crate) route: TypeId,
    /// Where it may lead to.
    pub(crate) exits: Vec<Exit>,
    pub(crate) of: OutwardForm,
}

/// How what is said is settled and stored: of one state and one route.
#[derive(Clone, Copy)]
pub(crate) struct OutwardForm {
    /// The state's name.
    pub(crate) name: &'static str,
    pub(crate) exits: fn() -> Vec<Exit>,
    prepare: fn(&AnyUpdate, Stamp<'_>) -> Result<AnyUpdate, NodeError>,
    encode: fn(&AnyUpdate) -> Result<StoredUpdate, EncodeError>,
    decode: fn(StoredUpdate) -> Result<AnyUpdate, Unread>,
}

impl OutwardForm {
    fn new<P: GraphState, R: ParentRoute>() -> Self {
        Self {
            name: P::NAME,
            exits: R::exits,
            prepare: prepared::<P>,
            encode: encode::<P>,
            decode: decode::<P>,
        }
    }
}

impl std::fmt::Debug for OutwardForm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OutwardForm").field("name", &self.name).finish_non_exhaustive()
    }
}

impl OutwardType {
    /// What a node has said, read back: its writes, if it has written, and its way.
    pub(crate) fn read(&self, update: Option<StoredUpdate>, leave: Option<Leave>) -> Result<Outward, Unread> {
        let update = update.map(self.of.decode).transpose()?;
        let leave = leave.map(|leave| Box::new((self.route, leave)));
        Ok(Outward { update, leave, of: self.of })
    }
}

impl Outward {
    /// Whether there is an update, of whatever state.
    pub(crate) fn writes(&self) -> bool {
        self.update.is_some()
    }

    /// The update, if it is one of this state.
    pub(crate) fn update<S: GraphState>(&self) -> Option<S::Update> {
        self.update.as_ref()?.downcast_ref::<S::Update>().cloned()
    }

    /// Settles whatever is not deterministic.
    pub(crate) fn prepare(&mut self, stamp: Stamp<'_>) -> Result<(), NodeError> {
        if let Some(update) = &self.update {
            self.update = Some((self.of.prepare)(update, stamp)?);
        }
        Ok(())
    }

    /// The update as it is stored.
    pub(crate) fn stored(&self) -> Result<Option<StoredUpdate>, EncodeError> {
        self.update.as_ref().map(self.of.encode).transpose()
    }

    /// The types that it is of.
    pub(crate) fn of(&self) -> OutwardForm {
        self.of
    }
}

impl std::fmt::Debug for Outward {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outward").finish_non_exhaustive()
    }
}

impl<S: GraphState, P: GraphState, R: ParentRoute> IntoStep<S> for ParentCommand<P, R> {
    fn exits() -> Option<Vec<Exit>> {
        None
    }

    fn outward() -> Vec<OutwardType> {
        vec![OutwardType {
            state: TypeId::of::<P>(),
            route: TypeId::of::<R>(),
            exits: R::exits(),
            of: OutwardForm::new::<P, R>(),
        }]
    }

    fn into_step(self) -> Result<Step<S>, NodeError> {
        let leave = self.route.map(ParentRoute::leave).transpose()?;
        let outward = Outward {
            update: self.update.map(|update| Arc::new(update) as AnyUpdate),
            leave: leave.map(|leave| Box::new((TypeId::of::<R>(), leave))),
            of: OutwardForm::new::<P, R>(),
        };
        Ok(Step { update: S::Update::default(), leave: Leave::Outward(Box::new(outward)) })
    }
}

impl<S: GraphState, P: GraphState, R: ParentRoute> IntoStep<S> for Option<ParentCommand<P, R>> {
    fn exits() -> Option<Vec<Exit>> {
        None
    }

    fn outward() -> Vec<OutwardType> {
        <ParentCommand<P, R> as IntoStep<S>>::outward()
    }

    fn into_step(self) -> Result<Step<S>, NodeError> {
        match self {
            Some(outward) => outward.into_step(),
            None => Ok(Step::update(S::Update::default())),
        }
    }
}

impl<P: GraphState, R> std::fmt::Debug for ParentCommand<P, R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ParentCommand").field("update", &self.update.is_some()).finish_non_exhaustive()
    }
}
