//! Generic states.

use std::marker::PhantomData;

use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;
use superstep::checkpoint::MemoryCheckpointer;
use superstep::state::{Input, Update};
use superstep::thread::{Thread, as_node};
use superstep::{END, GraphState, START, StateGraph};

pub(crate) trait Value:
    Clone + Send + Sync + Default + Serialize + DeserializeOwned + 'static
{
}

impl<T: Clone + Send + Sync + Default + Serialize + DeserializeOwned + 'static> Value for T {}

fn keep_last<T>(value: &mut Vec<T>, item: T) {
    value.clear();
    value.push(item);
}

#[derive(GraphState, Clone, Debug)]
pub(crate) struct Work<T, const N: usize = 2>
where
    T: Value,
{
    #[state(input)]
    pub(crate) item: T,
    #[state(reducer = append)]
    done: Vec<T>,
    #[state(reducer = keep_last, takes = T)]
    last: Vec<T>,
    #[state(output)]
    count: u8,
    #[state(untracked, default = [0; N])]
    buffer: [u8; N],
    marker: PhantomData<T>,
}

#[test]
fn generated_types_keep_parameters_and_bounds() {
    let start = Work::<String, 3>::input("a").into_start();
    assert_eq!(start.state.buffer, [0; 3]);
    assert_eq!(start.state.output().count, 0);
    let update = Work::<String>::update().done(["x".to_owned()]).last("y".to_owned());
    let value = serde_json::to_value(&update).unwrap();
    assert_eq!(value, json!({"done": ["x"], "last": "y"}));
    let read: WorkUpdate<String> = serde_json::from_value(value).unwrap();
    assert!(read.writes(Work::<String>::DONE));
    let input: WorkInput<u8> = serde_json::from_value(json!({"item": 3})).unwrap();
    assert_eq!(input.into_start().state.item, 3);
}

#[derive(GraphState, Clone)]
struct Wrapper<T: Value> {
    #[state(flatten, input)]
    work: Work<Vec<T>>,
    extra: Option<T>,
}

#[test]
fn generic_states_can_be_flattened() {
    let start = Wrapper::<u8>::input(Work::input(vec![1])).into_start();
    assert_eq!(start.state.work.item, [1]);
    assert_eq!(Wrapper::<u8>::FIELD_COUNT, 7);
    let update = Wrapper::<u8>::update().extra(1).work(Work::update().done([vec![2]]));
    assert_eq!(serde_json::to_value(&update).unwrap(), json!({"extra": 1, "done": [[2]]}));
}

mod inner {
    use superstep::GraphState;

    #[derive(GraphState, Clone)]
    #[expect(unreachable_pub, reason = "the test is about visibility")]
    pub struct Public {
        pub open: u8,
        pub(super) near: u8,
        closed: u8,
    }

    impl Public {
        pub(super) fn closing() -> PublicUpdate {
            Self::update().closed(1)
        }
    }
}

#[test]
fn constants_and_setters_have_the_visibility_of_fields() {
    let update = inner::Public::closing().open(2).near(3);
    assert_eq!(update.get(inner::Public::OPEN), Some(&2));
    assert_eq!(update.get(inner::Public::NEAR), Some(&3));
    assert_eq!(inner::Public::input().closed(1).into_update().field_names().collect::<Vec<_>>(), ["closed"]);
}

#[test]
fn code_for_any_state_can_store_its_updates() {
    #[derive(GraphState, Clone)]
    struct Count {
        total: u32,
    }

    async fn done(_: &Count) {}

    // The bound on the state is all that it needs.
    async fn store<S: GraphState>(thread: &Thread<S>, update: S::Update) -> superstep::Result<()> {
        thread.update(update, as_node(START)).await?;
        Ok(())
    }

    let graph = StateGraph::<Count>::new().edge(START, done).edge(done, END).compile().unwrap();
    let thread = graph.with_checkpointer(MemoryCheckpointer::new()).thread("1");
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        store(&thread, Count::update().total(3)).await.unwrap();
        assert_eq!(thread.state().await.unwrap().unwrap().state.unwrap().total, 3);
    });
}
