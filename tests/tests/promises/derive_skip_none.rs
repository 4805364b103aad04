//! `skip_none`: unset options are left out of dumps, and nothing else changes.

use serde::Deserialize as _;
use serde_json::json;
use superstep::checkpoint::MemoryCheckpointer;
use superstep::schema::StateSchema;
use superstep::state::{Input, Update};
use superstep::{END, GraphState, START, StateGraph};

#[derive(GraphState, Clone)]
#[state(schema)]
struct Part {
    #[serde(skip_serializing_if = "Option::is_none")]
    room: Option<u8>,
    floor: Option<u8>,
}

fn read<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<u8>, D::Error> {
    let text = Option::<String>::deserialize(from)?;
    text.map(|text| text.parse().map_err(serde::de::Error::custom)).transpose()
}

#[derive(GraphState, Clone)]
#[state(schema)]
struct Ticket {
    #[state(skip_none, output)]
    answer: Option<String>,
    #[state(skip_none, serialize_with = display, deserialize_with = read)]
    shown: std::option::Option<u8>,
    #[state(skip_none, reducer = max)]
    best: Option<u8>,
    #[state(output)]
    other: Option<u8>,
    #[state(flatten)]
    part: Part,
}

/// Every `Option` of the struct, also of an excluded field and beside fields that are none.
#[derive(GraphState, Clone)]
#[state(schema, skip_none)]
struct Order<
    T: Clone + Send + Sync + serde::Serialize + serde::de::DeserializeOwned + schemars::JsonSchema + 'static,
> {
    note: Option<T>,
    #[state(exclude)]
    token: Option<u8>,
    count: u8,
    nested: Option<Option<u8>>,
    #[state(flatten)]
    part: Part,
}

async fn work(ticket: &Ticket) -> TicketUpdate {
    match ticket.best {
        None => Ticket::update().best(Some(3)).answer("yes".to_owned()),
        Some(_) => Ticket::update().answer(None),
    }
}

#[test]
fn unset_options_are_left_out_of_dump_and_output() {
    let ticket = Ticket::started(Ticket::input()).unwrap();
    assert_eq!(serde_json::to_value(ticket.dump()).unwrap(), json!({"other": null, "floor": null}));
    assert_eq!(serde_json::to_value(ticket.output()).unwrap(), json!({"other": null}));
    assert_eq!(format!("{:?}", ticket.output()), r#"{"other":null}"#);
    let part = Part::input().room(1_u8);
    let ticket = Ticket::started(Ticket::input().answer("a".to_owned()).shown(7_u8).part(part)).unwrap();
    assert_eq!(
        serde_json::to_value(&ticket).unwrap(),
        json!({"answer": "a", "shown": "7", "other": null, "room": 1, "floor": null})
    );
    assert_eq!(serde_json::to_value(ticket.output()).unwrap(), json!({"answer": "a", "other": null}));
}

#[test]
fn attribute_on_the_struct_covers_its_own_options() {
    let order = Order::<String>::started(Order::input()).unwrap();
    assert_eq!(serde_json::to_value(order.dump()).unwrap(), json!({"count": 0, "floor": null}));
    let order = Order::<String>::started(Order::input().note("n".to_owned()).token(1_u8)).unwrap();
    assert_eq!(serde_json::to_value(order.dump()).unwrap(), json!({"note": "n", "count": 0, "floor": null}));
}

#[test]
fn update_shows_that_a_field_was_unset() {
    let update = Ticket::update().answer(None);
    let value = serde_json::to_value(&update).unwrap();
    assert_eq!(value, json!({"answer": null}));
    assert!(TicketUpdate::from_json(value).unwrap().writes(Ticket::ANSWER));
    assert!(TicketInput::from_json(json!({"answer": null, "room": null})).is_ok());
}

#[test]
fn schema_of_a_left_out_field_is_optional_and_not_null() {
    let schema = Ticket::state_schema();
    assert_eq!(schema["properties"]["answer"], json!({"type": "string"}));
    assert_eq!(schema["properties"]["shown"], json!({"type": "string"}));
    assert_eq!(schema["properties"]["best"]["type"], "integer");
    assert_eq!(schema["properties"]["room"]["type"], "integer");
    assert_eq!(schema["required"], json!(["other", "floor"]));
    assert_eq!(Ticket::output_schema()["required"], json!(["other"]));
    // An input may still say null.
    assert_eq!(Ticket::input_schema()["properties"]["answer"], json!({"type": ["string", "null"]}));
    let schema = Order::<String>::state_schema();
    assert_eq!(schema["required"], json!(["count", "floor"]));
    assert_eq!(schema["properties"]["note"], json!({"type": "string"}));
    assert_eq!(schema["properties"]["nested"]["type"], json!(["integer", "null"]));
}

#[tokio::test]
async fn stored_form_is_unchanged_and_snapshots_follow_the_dump() {
    let graph = StateGraph::<Ticket>::new().edge(START, work).edge(work, END).compile().unwrap();
    let graph = graph.with_checkpointer(MemoryCheckpointer::new());
    let thread = graph.thread("t");
    thread.run(Ticket::input().shown(5_u8)).await.unwrap();
    let shown = serde_json::to_value(thread.state().await.unwrap().unwrap()).unwrap();
    assert_eq!(
        shown["state"],
        json!({"answer": "yes", "shown": "5", "best": 3, "other": null, "floor": null})
    );
    // The second run unsets a field that is stored with a value: the stored form has the null.
    thread.run(Ticket::input().part(Part::input().floor(2_u8))).await.unwrap();
    let snapshot = thread.state().await.unwrap().unwrap();
    assert_eq!(snapshot.state.as_ref().unwrap().answer, None);
    let shown = serde_json::to_value(snapshot).unwrap();
    assert_eq!(shown["state"], json!({"shown": "5", "best": 3, "other": null, "floor": 2}));
}
