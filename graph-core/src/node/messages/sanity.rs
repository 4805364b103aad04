use crate::engine::Context;
use crate::messages::sanity::{RepairTexts, repair};
use crate::node::messages::HasMessages;
use crate::node::{LibraryNode, NodeFor};

/// A node that repairs a conversation before it is sent to a model. See [the rules](crate::messages::sanity#repairs).
///
/// Put it right after [`START`](crate::START), alone in its superstep: if the history is written anew, messages that
/// other nodes append in the same superstep would be lost. It writes nothing if the history is in order. It works in
/// every graph whose state [has messages](HasMessages).
///
/// ```
/// # use superstep::messages::{MessagesState, messages_sanity};
/// # use superstep::{END, START, StateGraph};
/// # async fn model(_: &MessagesState) {}
/// let graph = StateGraph::<MessagesState>::new()
///     .edge(START, messages_sanity)
///     .edge(messages_sanity, model)
///     .edge(model, END);
/// # graph.compile().map(drop)
/// # .expect("it is complete");
/// ```
#[expect(non_camel_case_types, reason = "it is used like a node function and named like one")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct messages_sanity;

impl LibraryNode for messages_sanity {}

impl<S: HasMessages> NodeFor<S> for messages_sanity {
    type Output = S::Update;

    async fn run(&self, state: &S, _: &Context) -> S::Update {
        update(state, &RepairTexts::default())
    }
}

/// A variant of [`messages_sanity`] with custom wording, to be added to a graph under a name.
///
/// ```
/// use superstep::messages::sanity::{MessagesSanity, RepairTexts};
/// # use superstep::messages::MessagesState;
/// # use superstep::{END, START, StateGraph, named};
///
/// # async fn model(_: &MessagesState) {}
/// let wording = RepairTexts::default().placeholder("Abgebrochen, ehe ein Ergebnis da war.");
/// let sanity = named("sanity", MessagesSanity::with(wording));
/// let graph =
///     StateGraph::<MessagesState>::new().edge(START, &sanity).edge(&sanity, model).edge(model, END);
/// # graph.compile().map(drop)
/// # .expect("it is complete");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessagesSanity(RepairTexts);

impl MessagesSanity {
    /// Creates the node with this wording.
    pub fn with(texts: RepairTexts) -> Self {
        Self(texts)
    }
}

impl LibraryNode for MessagesSanity {}

impl<S: HasMessages> NodeFor<S> for MessagesSanity {
    type Output = S::Update;

    async fn run(&self, state: &S, _: &Context) -> S::Update {
        update(state, &self.0)
    }
}

fn update<S: HasMessages>(state: &S, texts: &RepairTexts) -> S::Update {
    repair(state.messages(), texts).map_or_else(S::Update::default, S::update_messages)
}
