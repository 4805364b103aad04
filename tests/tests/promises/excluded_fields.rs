//! Excluded fields, whose values are in no dump and in no error message.

use std::error::Error as _;

use serde_json::json;
use superstep::reducers::{ReduceError, Reducer, Stamp};
use superstep::state::Input;
use superstep::{END, GraphState, START, StateGraph};

const SECRET: u64 = 4711;

fn refuse(value: &mut u64, delta: u64) -> Result<(), String> {
    Err(format!("{value} does not go with {delta}"))
}

fn explode(value: &mut u64, delta: u64) {
    panic!("{value} exploded on {delta}");
}

fn weak(value: &u64) -> Result<(), String> {
    if *value == 0 { Ok(()) } else { Err(format!("{value} is weak")) }
}

fn checks_loudly(value: &u64) -> Result<(), String> {
    assert!(*value == 0, "{value} is weak");
    Ok(())
}

enum Picky {}

impl Reducer<u64> for Picky {
    type Update = u64;
    type Delta = u64;

    fn prepare(update: u64, _: &Stamp<'_>) -> Result<u64, ReduceError> {
        Err(ReduceError::new(format!("{update} cannot be used")))
    }

    fn fold(_: &mut u64, _: u64) -> Result<(), ReduceError> {
        Ok(())
    }
}

#[derive(GraphState, Clone, Debug)]
struct Safe {
    #[state(exclude, reducer = add, default = u64::MAX)]
    full: u64,
    #[state(exclude, reducer = refuse)]
    refusing: u64,
    #[state(exclude, reducer = explode)]
    exploding: u64,
    #[state(exclude, reducer = Picky)]
    picky: u64,
    #[state(exclude, validate(custom(weak)))]
    weak: u64,
    #[state(exclude, validate(custom(checks_loudly)))]
    loud: u64,
    #[state(exclude)]
    token: u64,
}

/// Returns `Display` and `Debug` of an error and of all its causes.
fn full_text(error: &superstep::Error) -> String {
    let mut text = format!("{error}\n{error:?}");
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!("\n{error}\n{error:?}"));
        cause = error.source();
    }
    text
}

#[tokio::test]
async fn node_errors_do_not_reveal_excluded_values() {
    macro_rules! check {
        ($($field:ident),*) => {$({
            async fn node(_: &Safe) -> SafeUpdate {
                Safe::update().$field(SECRET)
            }
            let graph = StateGraph::<Safe>::new().edge(START, node).edge(node, END).compile().unwrap();
            let text = full_text(&graph.run(Safe::input()).await.unwrap_err());
            assert!(!text.contains("4711"), "{text}");
            assert!(text.contains(stringify!($field)) && text.contains("`node`"), "{text}");
        })*};
    }
    check!(full, refusing, exploding, picky, weak, loud);
}

#[tokio::test]
async fn input_errors_do_not_reveal_excluded_values() {
    async fn node(_: &Safe) {}
    let graph = StateGraph::<Safe>::new().edge(START, node).edge(node, END).compile().unwrap();
    let text = full_text(&graph.run(Safe::input().weak(SECRET)).await.unwrap_err());
    assert!(!text.contains("4711") && text.contains("weak") && text.contains("START"), "{text}");

    let error = SafeInput::from_json(json!({"token": "4711"})).unwrap_err();
    assert!(!format!("{error} {error:?}").contains("4711"), "{error}");
    let error = serde_json::from_value::<SafeUpdate>(json!({"$overwrite": {"token": ["4711"]}})).unwrap_err();
    assert!(!format!("{error} {error:?}").contains("4711"), "{error}");
}

#[tokio::test]
async fn excluded_values_are_not_dumped() {
    async fn node(_: &Safe) -> SafeUpdate {
        Safe::update().token(SECRET)
    }
    let graph = StateGraph::<Safe>::new().edge(START, node).edge(node, END).compile().unwrap();
    let state = graph.run(Safe::input()).await.unwrap().into_state();
    assert_eq!(state.token, SECRET);
    assert_eq!(state.dump().to_string(), "{}");
    assert_eq!(format!("{:?}", Safe::update().token(SECRET)), "SafeUpdate { token: .. }");
}

enum Loud {}

impl Reducer<String> for Loud {
    type Update = String;
    type Delta = String;

    fn prepare(update: String, _: &Stamp<'_>) -> Result<String, ReduceError> {
        panic!("{update} cannot be used");
    }

    fn fold(_: &mut String, _: String) -> Result<(), ReduceError> {
        Ok(())
    }
}

#[derive(GraphState, Clone)]
struct Hushed {
    #[state(exclude, reducer = Loud)]
    token: String,
}

async fn writes(_: &Hushed) -> HushedUpdate {
    Hushed::update().token("hunter2".to_owned())
}

#[tokio::test]
async fn panic_in_prepare_does_not_reveal_excluded_values() {
    let graph = StateGraph::<Hushed>::new().edge(START, writes).edge(writes, END).compile().unwrap();
    let by_node = graph.run(Hushed::input()).await.unwrap_err();
    let by_input = graph.run(Hushed::input().token("hunter2".to_owned())).await.unwrap_err();
    for error in [by_node, by_input] {
        let text = full_text(&error);
        assert!(text.contains("`token`") && !text.contains("hunter2"), "{text}");
    }
}
