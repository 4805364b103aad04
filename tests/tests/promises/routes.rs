//! Derived routes.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use superstep::node::{Choice, Exit, IntoLeave, Leave, NodeRef, PacketType};
use superstep::{Context, END, GraphState, NodeError, Route};

#[derive(GraphState, Clone, Default)]
struct Ticket {
    answer: String,
}

#[derive(Serialize, Deserialize, Debug, PartialEq)]
struct Query {
    words: Vec<String>,
}

async fn draft(_: &Ticket) -> TicketUpdate {
    Ticket::update().answer("a draft")
}

// A route can name the node that returns it.
async fn search(_: &Query, _: &Context) -> Result<Way, NodeError> {
    Ok(Way::Accept)
}

async fn work<T: Serialize + DeserializeOwned + Sync + 'static>(_: &T) {}

mod nodes {
    pub(super) async fn review() {}
}

#[derive(Route, Debug)]
enum Way {
    #[to(END)]
    Accept,
    #[to(draft, nodes::review)]
    Both,
    #[to(search)]
    #[route(label = "look it up")]
    Search(Query),
    #[to("second_draft", self::draft)]
    Named,
    #[to(search, work::<Query>)]
    r#Again(Query),
}

#[derive(Route)]
enum Generic<T: Serialize + DeserializeOwned + Send + Sync + 'static> {
    #[to(work::<T>)]
    Work(T),
    #[to(END)]
    Stop,
}

fn names(exit: &Exit) -> Vec<&str> {
    exit.to.iter().map(NodeRef::name).collect()
}

#[test]
fn exits_follow_the_order_of_variants() {
    let exits = <Way as Route>::exits();
    let labels: Vec<_> = exits.iter().map(|exit| exit.label).collect();
    assert_eq!(labels, ["Accept", "Both", "look it up", "Named", "Again"]);
    let places: Vec<_> = exits.iter().map(names).collect();
    assert_eq!(
        places,
        [&["END"][..], &["draft", "review"], &["search"], &["second_draft", "draft"], &["search", "work"]]
    );
}

#[test]
fn same_function_is_the_same_target() {
    let exits = <Way as Route>::exits();
    assert_eq!(exits[1].to[0], exits[3].to[1], "`draft` and `self::draft`");
    assert_ne!(exits[1].to[0], exits[3].to[0], "a named node is a different target");
    let other = <Generic<u8> as Route>::exits();
    assert_ne!(other[0].to[0], exits[4].to[1], "`work::<u8>` and `work::<Query>`");
}

#[test]
fn payload_becomes_the_packet() {
    let exits = <Way as Route>::exits();
    let packets: Vec<_> = exits.iter().map(|exit| exit.packet).collect();
    assert_eq!(packets, [None, None, Some(PacketType::of::<Query>()), None, Some(PacketType::of::<Query>())]);

    let query = || Query { words: vec!["why".to_owned()] };
    let Choice { exit, packet } = Way::Again(query()).into_choice();
    assert_eq!(exit, 4);
    assert_eq!(packet.unwrap().get::<Query>(), Some(&query()));
    let Choice { exit, packet } = Generic::Work(7_u8).into_choice();
    assert_eq!((exit, packet.unwrap().get()), (0, Some(&7_u8)));
}

#[test]
fn variant_without_payload_sends_no_packet() {
    let Choice { exit, packet } = Way::Both.into_choice();
    assert_eq!((exit, packet.is_none()), (1, true));
    assert_eq!(Way::Named.into_choice().exit, 3);
    assert_eq!(Generic::<u8>::Stop.into_choice().exit, 1);
}

#[test]
fn empty_list_of_routes_is_refused() {
    let leave = vec![Way::Both, Way::Search(Query { words: Vec::new() })].into_leave().unwrap();
    let Leave::ByAll(choices) = leave else { panic!("{leave:?}") };
    assert_eq!(choices.iter().map(|choice| choice.exit).collect::<Vec<_>>(), [1, 2]);
    let error = Vec::<Way>::new().into_leave().unwrap_err();
    assert!(error.to_string().contains("is empty"), "{error}");
}
