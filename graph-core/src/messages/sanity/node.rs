use crate::engine::Context;
use crate::messages::HasMessages;
use crate::node::{LibraryNode, NodeFor};

use super::{Texts, repair};

/// A node that puts a conversation in order before it is sent; see [what is mended](super).
///
/// It stands right after [`START`](crate::START), by itself: what another node appends in the same superstep would be lost
/// where the history is written anew. If there is nothing to mend it writes nothing. It fits into every graph whose state
/// [has messages](HasMessages).
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
#[expect(
    non_camel_case_types,
    reason = "it stands where the functions stand that are nodes, and is called as they are"
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct messages_sanity;

impl LibraryNode for messages_sanity {}

impl<S: HasMessages> NodeFor<S> for messages_sanity {
    type Output = S::Update;

    async fn run(&self, state: &S, _: &Context) -> S::Update {
        update(state, &Texts::default())
    }
}

/// [`messages_sanity`] with texts of one's own, to be put into a graph under a name.
///
/// ```
/// use superstep::messages::sanity::{MessagesSanity, Texts};
/// # use superstep::messages::MessagesState;
/// # use superstep::{END, START, StateGraph, named};
///
/// # async fn model(_: &MessagesState) {}
/// let texts = Texts::default().placeholder("Abgebrochen, ehe ein Ergebnis da war.");
/// let sanity = named("sanity", MessagesSanity::with(texts));
/// let graph =
///     StateGraph::<MessagesState>::new().edge(START, &sanity).edge(&sanity, model).edge(model, END);
/// # graph.compile().map(drop)
/// # .expect("it is complete");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessagesSanity(Texts);

impl MessagesSanity {
    /// The node whose messages say these texts.
    pub fn with(texts: Texts) -> Self {
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

fn update<S: HasMessages>(state: &S, texts: &Texts) -> S::Update {
    repair(state.messages(), texts).map_or_else(S::Update::default, S::update_messages)
}
