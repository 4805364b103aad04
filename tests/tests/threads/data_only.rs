//! Stored values are data. The types come from the program, and nothing stored is read as a type name or as code.

use std::error::Error as _;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use superstep::{END, ErrorKind, Graph, GraphState, START, StateGraph};

use super::stores::on_every_store;

/// Values that other decoders act on: constructors, tags, references, pickles, code.
fn hostile() -> Vec<Value> {
    vec![
        json!({"lc": 2, "type": "constructor", "id": ["builtins", "exec"], "kwargs": {"object": "print(1)"}}),
        json!({"__class__": "os.system", "__args__": ["true"]}),
        json!({"py/object": "subprocess.Popen", "py/reduce": [{"py/function": "os.system"}, ["true"]]}),
        json!({"$type": "System.Diagnostics.Process", "$ref": "#/definitions/exec"}),
        json!({"type": "Plan", "content": {"Run": "rm -rf"}}),
        json!("!!python/object/apply:os.system ['true']"),
        json!("gASVIQAAAAAAAACMBXBvc2l4lIwGc3lzdGVtlJOUjAR0cnVllIWUUpQu"),
        json!("${jndi:ldap://localhost/a}"),
    ]
}

/// A state that accepts any JSON.
#[derive(GraphState, Clone)]
struct Anything {
    #[state(input)]
    value: Value,
    #[state(input, reducer = append)]
    list: Vec<Value>,
}

async fn touch(_: &Anything) -> AnythingUpdate {
    Anything::update().list([json!({"lc": 1, "type": "secret", "id": ["HOME"]})])
}

fn anything() -> Graph<Anything> {
    StateGraph::<Anything>::new().edge(START, touch).edge(touch, END).compile().unwrap()
}

/// A type of the program with a similar JSON form.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "type", content = "content", deny_unknown_fields)]
enum Plan {
    Wait(u32),
}

mod typed {
    use super::*;

    #[derive(GraphState, Clone)]
    pub(super) struct Typed {
        #[state(input)]
        value: Plan,
        #[state(input, reducer = append)]
        list: Vec<Value>,
    }

    async fn touch(_: &Typed) {}

    pub(super) fn graph() -> Graph<Typed> {
        StateGraph::<Typed>::new().edge(START, touch).edge(touch, END).compile().unwrap()
    }
}

#[tokio::test]
async fn stored_values_are_never_read_as_types_or_code() {
    for value in hostile() {
        on_every_store(async |store| {
            let thread = store.thread(&anything());
            thread.run(Anything::input(value.clone()).list([value.clone()])).await.unwrap();
            // The value is read back as data, with every key.
            let state = store.thread(&anything()).state().await.unwrap().unwrap().state.unwrap();
            assert_eq!((&state.value, &state.list[0]), (&value, &value));
            assert_eq!(state.list[1]["id"], json!(["HOME"]));

            // A field with a type accepts only that type. Nothing else is looked up, and no default is used.
            let error = store.thread(&typed::graph()).state().await.unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Checkpoint(_)), "{value}: {error:?}");
            let cause = error.source().map(ToString::to_string).unwrap_or_default();
            assert!(format!("{error}: {cause}").contains("`value`"), "{error}: {cause}");
        })
        .await;
    }
}
