//! Argument types of the generated setters.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, Value, json};
use superstep::state::Update;
use superstep::{GraphState, Overwrite};

#[derive(GraphState, Clone, Debug)]
struct Kinds {
    plain: u8,
    text: String,
    folder: PathBuf,
    maybe: Option<f32>,
    list: Vec<String>,
    #[state(reducer = append)]
    notes: Vec<String>,
    #[state(reducer = append)]
    queue: VecDeque<u64>,
    #[state(reducer = append)]
    log: String,
    #[state(reducer = append)]
    drafts: Option<Vec<u8>>,
    #[state(reducer = add)]
    count: u32,
    #[state(reducer = add)]
    took: Duration,
    #[state(reducer = add)]
    cost: Option<f64>,
    #[state(reducer = merge)]
    scores: HashMap<String, f32>,
    #[state(reducer = merge)]
    extra: Map<String, Value>,
    #[state(reducer = merge)]
    seen: Option<BTreeMap<u8, bool>>,
    #[state(reducer = union)]
    tags: BTreeSet<String>,
    #[state(reducer = union)]
    ids: HashSet<u64>,
    #[state(reducer = union)]
    order: Vec<u8>,
    #[state(reducer = min)]
    lowest: i32,
    #[state(reducer = max)]
    best: Option<f32>,
    #[state(reducer = any_value)]
    language: String,
    #[state(reducer = any_value)]
    region: Option<String>,
}

#[track_caller]
fn check(update: KindsUpdate, expected: Value) {
    assert_eq!(serde_json::to_value(update).unwrap(), expected);
}

#[test]
fn fields_without_reducer_take_their_value() {
    check(Kinds::update().plain(3).maybe(0.5), json!({"plain": 3, "maybe": 0.5}));
    check(Kinds::update().maybe(None), json!({"maybe": null}));
    check(Kinds::update().maybe(Some(1.0)), json!({"maybe": 1.0}));
    check(Kinds::update().text("é").folder("a/b"), json!({"text": "é", "folder": "a/b"}));
    check(Kinds::update().text("é".to_owned()).folder(Path::new("a")), json!({"text": "é", "folder": "a"}));
    check(Kinds::update().list(vec![]), json!({"list": []}));
}

#[test]
fn lists_take_any_iterable() {
    check(Kinds::update().notes(["a".to_owned()]), json!({"notes": ["a"]}));
    check(Kinds::update().notes(vec!["a".to_owned()]).notes([]), json!([{"notes": ["a"]}, {"notes": []}]));
    check(Kinds::update().notes((0..2).map(|n| n.to_string())), json!({"notes": ["0", "1"]}));
    check(Kinds::update().queue([1, 2]).drafts([3]), json!({"queue": [1, 2], "drafts": [3]}));
    check(
        Kinds::update().tags(["x".to_owned()]).ids([7]).order([1, 1]),
        json!({"tags": ["x"], "ids": [7], "order": [1, 1]}),
    );
}

#[test]
fn strings_take_strings_and_characters() {
    check(
        Kinds::update().log("a").log('b').log(format!("{}", 1)),
        json!([{"log": "a"}, {"log": "b"}, {"log": "1"}]),
    );
}

#[test]
fn numbers_take_literals() {
    check(
        Kinds::update().count(3).cost(0.5).lowest(-1).best(0.5),
        json!({"count": 3, "cost": 0.5, "lowest": -1, "best": 0.5}),
    );
    check(Kinds::update().cost(None).best(Some(0.5)), json!({"cost": null, "best": 0.5}));
    assert_eq!(Kinds::update().took(Duration::from_secs(1)).get(Kinds::TOOK), Some(&Duration::from_secs(1)));
}

#[test]
fn maps_take_entries() {
    check(Kinds::update().scores([("a".to_owned(), 1.0)]), json!({"scores": {"a": 1.0}}));
    check(
        Kinds::update().scores(HashMap::new()).seen([(1, true)]),
        json!({"scores": {}, "seen": {"1": true}}),
    );
    check(Kinds::update().extra([("a".to_owned(), json!(null))]), json!({"extra": {"a": null}}));
}

#[test]
fn any_value_takes_the_same_as_a_plain_field() {
    check(Kinds::update().language("de").region("AT"), json!({"language": "de", "region": "AT"}));
    check(Kinds::update().region(None), json!({"region": null}));
}

#[test]
fn every_field_can_be_overwritten() {
    check(
        Kinds::update()
            .notes(Overwrite(vec![]))
            .count(Overwrite(0))
            .best(Overwrite(None))
            .plain(Overwrite(1)),
        json!({"$overwrite": {"notes": [], "count": 0, "best": null, "plain": 1}}),
    );
    check(
        Kinds::update()
            .drafts(Overwrite(None))
            .scores(Overwrite(HashMap::new()))
            .log(Overwrite(String::new())),
        json!({"$overwrite": {"drafts": null, "scores": {}, "log": ""}}),
    );
}

#[test]
fn update_can_be_inspected() {
    let update = Kinds::update().notes(["a".to_owned()]).count(1).notes(["b".to_owned()]).best(0.5);
    assert_eq!(update.get(Kinds::NOTES), Some(&vec!["b".to_owned()]));
    assert_eq!(update.values::<Vec<String>>(Kinds::NOTES).flatten().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(update.get(Kinds::BEST), Some(&Some(0.5)));
    assert_eq!(update.get(Kinds::PLAIN), None);
    assert!(update.writes(Kinds::COUNT) && !update.writes(Kinds::PLAIN));
    assert_eq!(update.field_names().collect::<Vec<_>>(), ["notes", "count", "best"]);
    assert!(Kinds::update().is_empty() && !update.is_empty());
    assert_eq!(format!("{update:?}"), r#"KindsUpdate { notes: ["a"], count: 1, notes: ["b"], best: 0.5 }"#);
}
