//! Untracked values are never stored. Excluded values are stored, but in no error or debug output.

use std::error::Error as _;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::{Context, END, ErrorKind, Graph, GraphState, NodeError, START, StateGraph};

use super::stores::{contains_text, on_every_store};

const UNTRACKED: &str = "untracked-7f3a91";
const EXCLUDED: &str = "excluded-04b8ce";

#[derive(GraphState, Clone, Debug)]
struct Login {
    #[state(input, untracked)]
    password: Option<String>,
    #[state(untracked)]
    token: Arc<str>,
    #[state(exclude)]
    session: Option<String>,
    said: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Go;

impl Question for Go {
    type Answer = bool;
}

async fn log_in(login: &Login) -> LoginUpdate {
    let text = login.password.as_deref().map_or("no password", |_| "a password");
    Login::update().token(UNTRACKED).session(EXCLUDED.to_owned()).said(text.to_owned())
}

async fn renew(_: &Login) -> LoginUpdate {
    Login::update().token(UNTRACKED).password(UNTRACKED.to_owned())
}

async fn wait(login: &Login, cx: &Context) -> Result<LoginUpdate, NodeError> {
    let yes = cx.interrupt(Go).await;
    let session = login.session.as_deref().unwrap_or("none") == EXCLUDED;
    Ok(Login::update().said(format!("{yes}, token `{}`, session kept: {session}", login.token)))
}

fn graph() -> Graph<Login> {
    StateGraph::<Login>::new()
        .edge(START, log_in)
        .edge(log_in, (renew, wait))
        .edge(renew, END)
        .edge(wait, END)
        .compile()
        .unwrap()
}

#[tokio::test]
async fn untracked_values_are_not_in_the_stored_bytes() {
    on_every_store(async |store| {
        let thread = store.thread(&graph());
        let outcome = thread.run(Login::input().password(UNTRACKED.to_owned())).await.unwrap();
        assert!(outcome.pause().is_some());
        assert_eq!(outcome.state().said.as_deref(), Some("a password"));
        assert!(thread.state().await.unwrap().unwrap().tasks[0].result.is_some());
        let bytes = store.bytes().await;
        assert!(!contains_text(&bytes, UNTRACKED));
        assert!(contains_text(&bytes, EXCLUDED), "what is excluded is stored all the same");

        let go = thread.interrupts().await.unwrap().only::<Go>().unwrap();
        let outcome = store.thread(&graph()).resume(go.answer(true)).await.unwrap();
        let said = outcome.state().said.as_deref().unwrap();
        assert_eq!(said, "true, token ``, session kept: true", "it holds its default after a resumption");
        assert!(!contains_text(&store.bytes().await, UNTRACKED));
    })
    .await;
}

#[tokio::test]
async fn debug_output_hides_excluded_and_untracked_values() {
    on_every_store(async |store| {
        let thread = store.thread(&graph());
        let outcome = thread.run(Login::input().password(UNTRACKED.to_owned())).await.unwrap();
        let snapshot = thread.state().await.unwrap().unwrap();
        let pending = thread.interrupts().await.unwrap();
        let history = thread.history().await.unwrap();
        let text = format!("{outcome:?} {snapshot:?} {pending:?} {history:?} {thread:?}");
        assert!(text.contains("a password"), "{text}");
        assert!(!text.contains(UNTRACKED) && !text.contains(EXCLUDED), "{text}");
    })
    .await;
}

/// The same state after a change without a migration.
mod changed {
    use super::*;

    #[derive(GraphState, Clone, Debug)]
    pub(super) struct Login {
        #[state(exclude)]
        pub(super) session: Option<u32>,
    }

    async fn wait(_: &Login) {}
    async fn renew(_: &Login) {}

    pub(super) fn graph() -> Graph<Login> {
        let graph = StateGraph::<Login>::new().edge(START, (wait, renew)).edge(wait, END).edge(renew, END);
        graph.compile().unwrap()
    }
}

#[tokio::test]
async fn unreadable_excluded_value_is_not_in_the_error() {
    on_every_store(async |store| {
        store.thread(&graph()).run(Login::input()).await.unwrap();
        let thread = store.thread(&changed::graph());
        for error in [thread.state().await.unwrap_err(), thread.resume(()).await.unwrap_err()] {
            assert!(matches!(error.kind(), ErrorKind::Checkpoint(_)), "{error}");
            let mut text = format!("{error} {error:?}");
            let mut cause = error.source();
            while let Some(error) = cause {
                text.push_str(&format!(" {error} {error:?}"));
                cause = error.source();
            }
            assert!(text.contains("field `session` of thread `t`, at checkpoint"), "{text}");
            assert!(!text.contains(EXCLUDED), "{text}");
        }
    })
    .await;
}
