//! Unusual names of fields.

use serde_json::json;
use superstep::GraphState;
use superstep::state::{Input, Update};

#[derive(GraphState, Clone)]
struct Awkward {
    r#type: String,
    r#match: u8,
    update: u8,
    input: u8,
    output: u8,
    writes: u8,
    given: u8,
    field: u8,
    name: u8,
    clone: u8,
    into_update: u8,
    __value: u8,
    __update: u8,
    größe: u8,
}

#[test]
fn raw_identifiers_have_plain_names() {
    assert_eq!(Awkward::TYPE.name(), "type");
    assert_eq!(Awkward::MATCH.name(), "match");
    let update = Awkward::update().r#type("bug").r#match(1);
    assert_eq!(serde_json::to_value(&update).unwrap(), json!({"type": "bug", "match": 1}));
    let input = AwkwardInput::from_json(json!({"type": "bug"})).unwrap();
    assert_eq!(serde_json::to_value(input).unwrap(), json!({"type": "bug"}));
}

#[test]
fn fields_can_have_names_of_generated_items() {
    let input = Awkward::input().update(1).input(2).writes(3).given(4).__update(5);
    assert_eq!(
        serde_json::to_value(input).unwrap(),
        json!({"update": 1, "input": 2, "writes": 3, "given": 4, "__update": 5})
    );
    let update = Awkward::update().name(1).clone(2).into_update(3).größe(4);
    let names: Vec<_> = Update::field_names(&update).collect();
    assert_eq!(names, ["name", "clone", "into_update", "größe"]);
    assert_eq!(Awkward::NAME.name(), "name");
    assert_eq!(Awkward::GRÖSSE.name(), "größe");
    assert_eq!(<Awkward as GraphState>::NAME, "Awkward");
}

#[derive(GraphState, Clone)]
#[state(rename_all = "camelCase")]
struct Renamed {
    last_error: u8,
    #[state(rename = "Kind", alias = "type", alias = "sort")]
    kind: u8,
    #[serde(rename = "n", alias = "number")]
    count: u8,
}

#[test]
fn renamed_fields_are_read_under_every_alias() {
    let update = Renamed::update().last_error(1).kind(2).count(3);
    assert_eq!(serde_json::to_string(&update).unwrap(), r#"{"lastError":1,"Kind":2,"n":3}"#);
    for names in [["lastError", "Kind", "n"], ["lastError", "type", "number"], ["lastError", "sort", "n"]] {
        let [last_error, kind, count] = names;
        let read: RenamedUpdate =
            serde_json::from_value(json!({(last_error): 1, (kind): 2, (count): 3})).unwrap();
        assert_eq!(serde_json::to_value(&read).unwrap(), json!({"lastError": 1, "Kind": 2, "n": 3}));
    }
    assert_eq!(Renamed::KIND.name(), "Kind");
}

macro_rules! wide {
    ($($field:ident)*) => {
        #[derive(GraphState, Clone)]
        struct Wide { $(#[state(reducer = add)] $field: u64,)* }

        fn all() -> WideUpdate {
            WideUpdate::default()$(.$field(1_u64))*
        }
    };
}

wide! {
    f00 f01 f02 f03 f04 f05 f06 f07 f08 f09 f10 f11 f12 f13 f14 f15 f16 f17 f18 f19 f20 f21 f22 f23 f24 f25 f26 f27
    f28 f29 f30 f31 f32 f33 f34 f35 f36 f37 f38 f39 f40 f41 f42 f43 f44 f45 f46 f47 f48 f49 f50 f51 f52 f53 f54 f55
    f56 f57 f58 f59 f60 f61 f62 f63 f64 f65 f66 f67 f68 f69 f70 f71 f72 f73 f74 f75 f76 f77 f78 f79 f80 f81 f82 f83
    f84 f85 f86 f87 f88 f89 f90 f91 f92 f93 f94 f95 f96 f97 f98 f99
}

#[test]
fn state_can_have_more_than_64_fields() {
    assert_eq!(Wide::FIELD_COUNT, 100);
    assert_eq!(Wide::F99.index(), 99);
    let value = serde_json::to_value(all()).unwrap();
    assert_eq!(value.as_object().unwrap().len(), 100);
    assert_eq!(value["f99"], 1);
}

#[derive(GraphState, Clone)]
struct Empty {}

#[test]
fn state_can_have_no_fields() {
    assert_eq!(Empty::FIELD_COUNT, 0);
    assert_eq!(Empty::input().into_start().state.dump().to_string(), "{}");
    assert_eq!(serde_json::to_string(&Empty::update()).unwrap(), "{}");
}

#[derive(GraphState, Clone)]
struct Nested {
    #[state(untracked)]
    children: Vec<Self>,
    #[state(default = Self::start())]
    depth: u8,
}

impl Nested {
    fn start() -> u8 {
        7
    }
}

#[test]
fn self_refers_to_the_state() {
    assert_eq!(Nested::input().into_start().state.depth, 7);
}

/// An `expect` on the state covers the generated code too, which causes no lints of its own.
mod strict {
    #![deny(nonstandard_style)]

    use superstep::GraphState;

    #[derive(GraphState, Clone)]
    #[expect(non_snake_case, reason = "the names are those of another system")]
    pub(super) struct Foreign {
        #[state(input)]
        pub(super) requestId: String,
        #[state(input)]
        pub(super) __given: u8,
        #[state(output)]
        pub(super) replyText: String,
    }
}

#[test]
fn lint_exception_on_the_state_covers_generated_code() {
    use strict::Foreign;
    let state = Foreign::input("r", 1).into_start().state;
    assert_eq!((&*state.requestId, state.__given), ("r", 1));
    assert_eq!(state.output().replyText, "");
    assert_eq!(Foreign::REPLYTEXT.name(), "replyText");
}
