//! An untracked field is rebuilt from the graph's context, or holds its default.

use std::sync::Arc;

use superstep::{ContextWith, END, ErrorKind, GraphState, START, StateGraph};

use crate::engine::trace::here;

/// Neither serializable nor made by `Default`.
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
fn a_field_is_built_from_the_runs_context_and_others_may_be_given_and_written() {
    let graph = StateGraph::<Call>::with_context::<Deps>()
        .edge(START, call)
        .edge(call, again)
        .edge(again, END)
        .compile()
        .unwrap();
    let run = graph.run(Call::input().scratch(vec!["given"])).context(Deps { url: "here" });
    let state = here(run.into_future()).unwrap().into_state();
    assert_eq!(state.said, r#"Some("here") ["given"] here ["used"]"#);
    assert_eq!(state.dump().to_string(), serde_json::json!({ "said": state.said }).to_string());

    let error = graph.run(Call::input()).context(Deps { url: "nowhere" }).start().unwrap_err();
    assert!(format!("{error:?}").contains("cannot connect"), "a panic there is an error: {error:?}");
}

#[test]
fn another_context_than_the_field_asks_for_is_an_error_that_names_both() {
    let graph = StateGraph::<Call>::with_context::<String>().edge(START, again).edge(again, END).compile();
    let error = graph.unwrap().run(Call::input()).context("text".to_owned()).start().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::ContextMismatch { field: "client", .. }), "{error}");
    assert!(error.to_string().contains("String"), "{error}");
}
