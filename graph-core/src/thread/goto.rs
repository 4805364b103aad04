use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::error::NodeError;
use crate::step::{Exit, IntoLeave, Leave, NodeRef};

use super::AsNode;

/// A node that a resumption runs in addition to the planned tasks; see [`Run::goto`](crate::run::Run::goto).
///
/// Programs with the functions of the graph write [`as_node(node)`](super::as_node) or [`send(route)`](send). Programs
/// that receive the node as input, such as a server, name it. They can also deserialize this type from
/// `{"node": "score", "packet": {..}}`, without `packet` for a node that takes none.
///
/// ```
/// # use serde::{Deserialize, Serialize};
/// # use superstep::checkpoint::MemoryCheckpointer;
/// # use superstep::{Context, END, GraphState, Outcome, Route, START, StateGraph, interrupt::Question};
/// use serde_json::json;
/// use superstep::thread::Goto;
/// # #[derive(Serialize, Deserialize)]
/// # struct Enough;
/// # impl Question for Enough { type Answer = bool; }
/// # #[derive(GraphState, Clone)]
/// # struct Report { #[state(reducer = append)] notes: Vec<String> }
///
/// #[derive(Serialize, Deserialize)]
/// struct Topic {
///     title: String,
/// }
///
/// async fn research(topic: &Topic) -> ReportUpdate {
///     Report::update().notes([format!("about {}", topic.title)])
/// }
/// # #[derive(Route)]
/// # enum Plan { #[to(research)] Research(Topic), #[to(END)] Done }
/// # async fn plan(_: &Report, cx: &Context) -> Plan { cx.interrupt(Enough).await; Plan::Done }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> superstep::Result<()> {
/// # let graph = StateGraph::<Report>::new().edge(START, plan).node(plan).edge(research, END).compile()?;
/// # let thread = graph.with_checkpointer(MemoryCheckpointer::default()).thread("17");
/// # assert!(matches!(thread.run(Report::input()).await?, Outcome::Interrupted(_)));
/// # let enough = thread.interrupts().await?.only::<Enough>()?.answer(true);
/// let topic = Goto::named("research").packet(json!({ "title": "tea" }));
/// let report = thread.resume(enough).goto(topic).await?.into_state();
/// assert_eq!(report.notes, ["about tea"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Goto(pub(super) To);

/// The target of a [`Goto`].
#[derive(Clone)]
pub(super) enum To {
    /// A node. `routed` is `true` if a route was given with it, which has no meaning here.
    Node { node: NodeRef, packet: Option<Value>, routed: bool },
    /// The nodes to which a route leads.
    Route { exits: Vec<Exit>, leave: Result<Leave, String> },
}

/// Returns the nodes to which a route, or a list of routes, leads, with its packets.
///
/// ```
/// # use superstep::{Route, END};
/// # use superstep::thread::send;
/// # #[derive(superstep::GraphState, Clone)] struct Report { notes: Vec<String> }
/// # async fn research(_: &String) -> ReportUpdate { Report::update() }
/// #[derive(Route)]
/// enum Plan {
///     #[to(research)]
///     Research(String),
///     #[to(END)]
///     Done,
/// }
///
/// let both = send(vec![Plan::Research("tea".to_owned()), Plan::Research("milk".to_owned())]);
/// # let _ = both;
/// ```
pub fn send<R: IntoLeave>(route: R) -> Goto {
    let leave = route.into_leave().map_err(|error: NodeError| error.to_string());
    Goto(To::Route { exits: R::exits(), leave })
}

impl Goto {
    /// Chooses a node by its name.
    pub fn named(name: impl Into<String>) -> Self {
        let node = NodeRef::Named(Cow::Owned(name.into()));
        Self(To::Node { node, packet: None, routed: false })
    }

    /// Sets the JSON of the packet for a node that takes one. It is read as the type of the node's packet.
    ///
    /// A `null` is a packet too. Without effect on a [`send`], whose route has the packets.
    pub fn packet(mut self, json: impl Into<Value>) -> Self {
        if let To::Node { packet, .. } = &mut self.0 {
            *packet = Some(json.into());
        }
        self
    }
}

/// A node to run: [`AsNode`] or [`Goto`].
#[diagnostic::on_unimplemented(
    message = "a resumption cannot run this value as a node",
    label = "expected a node",
    note = "write `as_node(draft)` for a node `draft`, `send(route)` for the nodes of a route, or `Goto::named(..)` for a name"
)]
pub trait IntoGoto {
    #[doc(hidden)]
    fn into_goto(self) -> Goto;
}

#[diagnostic::do_not_recommend]
impl IntoGoto for Goto {
    fn into_goto(self) -> Goto {
        self
    }
}

#[diagnostic::do_not_recommend]
impl IntoGoto for AsNode {
    fn into_goto(self) -> Goto {
        let Self { node, taken, keeps_plan } = self;
        Goto(To::Node { node, packet: None, routed: taken.is_some() || keeps_plan })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GotoJson {
    node: String,
    #[serde(default, deserialize_with = "present")]
    packet: Option<Value>,
}

/// Reads a present field, even `null`.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl<'de> Deserialize<'de> for Goto {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let GotoJson { node, packet } = GotoJson::deserialize(deserializer)?;
        let Self(mut to) = Self::named(node);
        if let To::Node { packet: given, .. } = &mut to {
            *given = packet;
        }
        Ok(Self(to))
    }
}

impl fmt::Debug for Goto {
    /// Leaves out packets, which have no dump rules.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Goto");
        match &self.0 {
            To::Node { node, .. } => shown.field("node", &node.name()),
            To::Route { exits, leave } => {
                let choices = leave.as_ref().map(Leave::choices).unwrap_or_default();
                let labels = choices.iter().filter_map(|choice| Some(exits.get(choice.exit)?.label));
                shown.field("routes", &labels.collect::<Vec<_>>())
            }
        };
        shown.finish_non_exhaustive()
    }
}
