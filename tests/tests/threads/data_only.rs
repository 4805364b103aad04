//! What is stored is data: the types come from the program, and nothing that is stored is a type's name or code to it.

use std::error::Error as _;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use superstep::{END, ErrorKind, Graph, GraphState, START, StateGraph};

use super::stores::on_every_store;

/// What the decoders of others would make something of: constructors, tags, references, pickles, code.
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

/// Takes whatever is written.
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

/// What the program says that a value is.
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
async fn nothing_that_is_stored_names_a_type_or_is_code() {
    for value in hostile() {
        on_every_store(async |place| {
            let thread = place.thread(&anything());
            thread.run(Anything::input(value.clone()).list([value.clone()])).await.unwrap();
            // Read as what it was: data, to the last key.
            let state = place.thread(&anything()).state().await.unwrap().unwrap().state.unwrap();
            assert_eq!((&state.value, &state.list[0]), (&value, &value));
            assert_eq!(state.list[1]["id"], json!(["HOME"]));

            // Where the program has a type, it is that or nothing: no other is looked for, and none is a default.
            let error = place.thread(&typed::graph()).state().await.unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Checkpoint(_)), "{value}: {error:?}");
            let cause = error.source().map(ToString::to_string).unwrap_or_default();
            assert!(format!("{error}: {cause}").contains("`value`"), "{error}: {cause}");
        })
        .await;
    }
}
