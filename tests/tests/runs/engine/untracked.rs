//! Untracked fields, which are rebuilt from the context or set to their default.

use std::sync::Arc;

use superstep::{ContextWith, END, ErrorKind, GraphState, START, StateGraph};

use crate::engine::trace::block_on;

/// Implements neither `Serialize` nor `Default`.
#[derive(Clone, Debug)]
struct Client(Arc<str>);

struct Deps {
    url: &'static str,
}

fn connect(deps: &Deps) -> Option<Client> {
    assert!(deps.url != "nowhere", "cannot connect");
    Some(Client(deps.url.into()))
}

#[derive(GraphState, Clone, Debug)]
struct Call {
    #[state(untracked, from_context = connect)]
    client: Option<Client>,
    #[state(untracked)]
    scratch: Vec<&'static str>,
    said: String,
}

async fn call(state: &Call, cx: &ContextWith<Deps>) -> CallUpdate {
    let client = state.client.as_ref().map(|client| client.0.to_string());
    Call::update().said(format!("{client:?} {:?} {}", state.scratch, cx.context().url)).scratch(vec!["used"])
}

async fn again(state: &Call) -> CallUpdate {
    Call::update().said(format!("{} {:?}", state.said, state.scratch))
}

#[test]
fn untracked_fields_come_from_context_input_or_nodes() {
    let graph = StateGraph::<Call>::with_context::<Deps>()
        .edge(START, call)
        .edge(call, again)
        .edge(again, END)
        .compile()
        .unwrap();
    let run = graph.run(Call::input().scratch(vec!["given"])).context(Deps { url: "here" });
    let state = block_on(run).unwrap().into_state();
    assert_eq!(state.said, r#"Some("here") ["given"] here ["used"]"#);
    assert_eq!(state.dump().to_string(), serde_json::json!({ "said": state.said }).to_string());

    let error = graph.run(Call::input()).context(Deps { url: "nowhere" }).start().unwrap_err();
    assert!(
        format!("{error:?}").contains("cannot connect"),
        "a panic in `from_context` is an error: {error:?}"
    );
}

#[test]
fn wrong_context_for_an_untracked_field_is_an_error() {
    let graph = StateGraph::<Call>::with_context::<String>().edge(START, again).edge(again, END).compile();
    let error = graph.unwrap().run(Call::input()).context("text".to_owned()).start().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::ContextMismatch { field: "client", .. }), "{error}");
    assert!(error.to_string().contains("String"), "{error}");
}
