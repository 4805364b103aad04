//! Packets, data of nodes and results of steps that this version of the program cannot read.

use serde::{Deserialize, Serialize};
use serde_json::json;
use superstep::checkpoint::CheckpointId;
use superstep::machine::{End, Machine, To, to};
use superstep::state::MigrationError;
use superstep::thread::Thread;
use superstep::{
    Context, END, Error, ErrorKind, Graph, GraphState, NodeError, Route, START, StateGraph, bail,
};

use super::stores::{TestStore, on_every_store};

#[derive(GraphState, Clone, Debug)]
struct Work {
    /// The node that fails in the oldest version.
    #[state(input)]
    failing: String,
    #[state(reducer = append)]
    log: Vec<String>,
}

async fn finish(work: &Work) -> WorkUpdate {
    Work::update().log([format!("{} finished", work.log.len())])
}

/// The graph of every version: `plan` sends two packets to `work`, and `charge` runs a step.
macro_rules! version {
    ($version:ident, $fails:expr, $variant:ident, $($field:tt)*) => {
        mod $version {
            use super::*;

            #[derive(Serialize, Deserialize, Clone)]
            struct Job {
                name: String,
                $($field)*
            }

            fn job(name: &str) -> Job {
                serde_json::from_value(json!({"name": name, "tools": []})).unwrap()
            }

            #[derive(Route)]
            enum Jobs {
                #[to(work)]
                $variant(Job),
            }

            async fn plan(_: &Work) -> Vec<Jobs> {
                vec![Jobs::$variant(job("a")), Jobs::$variant(job("b"))]
            }

            async fn beside(work: &Work) -> superstep::Result<WorkUpdate> {
                if $fails && work.failing == "beside" {
                    // `plan` finishes first.
                    for _ in 0..9 {
                        tokio::task::yield_now().await;
                    }
                    bail!("it fails");
                }
                Ok(Work::update())
            }

            async fn work(work: &Work, job: &Job) -> superstep::Result<WorkUpdate> {
                if $fails && work.failing == "work" {
                    bail!("it fails");
                }
                Ok(Work::update().log([job.name.clone()]))
            }

            async fn charge(_: &Work, cx: &Context) -> superstep::Result<WorkUpdate> {
                let job = cx.step("charge", async { Ok::<_, NodeError>(job("charge")) }).await?;
                if $fails {
                    bail!("it fails");
                }
                Ok(Work::update().log([job.name]))
            }

            pub(super) fn graph() -> Graph<Work> {
                let graph = StateGraph::<Work>::new().edge(START, (plan, beside)).node(plan);
                graph.edge(beside, END).edge(work, finish).edge(finish, END).compile().unwrap()
            }

            pub(super) fn charges() -> Graph<Work> {
                StateGraph::<Work>::new().edge(START, charge).edge(charge, END).compile().unwrap()
            }
        }
    };
}

version!(before, true, Job,);
version!(after, false, Job, tools: Vec<String>,);
version!(renamed, false, Task,);
version!(corrected, false, Job, #[serde(default)] tools: Vec<String>,);

/// Runs the older program until `failing` fails, and resumes with the newer one.
async fn outdated(store: &TestStore, failing: &str, newer: &Graph<Work>) -> (Error, CheckpointId) {
    store.thread(&before::graph()).run(Work::input(failing)).await.unwrap_err();
    (store.thread(newer).resume(()).await.unwrap_err(), head(store).await)
}

async fn head(store: &TestStore) -> CheckpointId {
    store.open().get("t", "", None).await.unwrap().fence.head.unwrap()
}

async fn log(thread: Thread<Work>) -> Vec<String> {
    thread.resume(()).await.unwrap().state().log.clone()
}

fn assert_migration(error: &Error, head: CheckpointId, reason: &str) {
    let ErrorKind::Migration { thread, checkpoint, source, .. } = error.kind() else { panic!("{error:?}") };
    assert_eq!((thread.as_str(), *checkpoint), ("t", head));
    assert_eq!(source.to_string(), reason);
}

const MISSING: &str = "missing field `tools` at line 1 column 12";
const CURE: &str = "let its type read the old JSON, for example with `#[serde(default)]` on a new field, or discard the \
                    pending tasks with `abandon_pending()`";

#[tokio::test]
async fn packet_that_cannot_be_read_is_named() {
    on_every_store(async |store| {
        let (error, head) = outdated(store, "work", &after::graph()).await;
        let expected = format!("the packet of node `work` cannot be read: {MISSING}; {CURE}");
        assert_migration(&error, head, &expected);
        assert!(matches!(error.kind(), ErrorKind::Migration { source: MigrationError::Packet { .. }, .. }));
        // Nothing is lost: a program that reads the old form continues.
        assert_eq!(log(store.thread(&corrected::graph())).await, ["a", "b", "2 finished"]);
    })
    .await;
}

#[tokio::test]
async fn packet_of_a_stored_route_that_cannot_be_read_is_named() {
    on_every_store(async |store| {
        let (error, head) = outdated(store, "beside", &after::graph()).await;
        let expected = format!("the packet of exit `Job` of node `plan` cannot be read: {MISSING}; {CURE}");
        assert_migration(&error, head, &expected);
        assert_eq!(log(store.thread(&corrected::graph())).await, ["a", "b", "2 finished"]);
    })
    .await;
}

#[tokio::test]
async fn stored_route_that_no_longer_exists_is_named() {
    on_every_store(async |store| {
        let (error, head) = outdated(store, "beside", &renamed::graph()).await;
        let expected = "the stored route of node `plan` cannot be taken: it no longer has an exit `Job`; restore the way, \
                        give a renamed variant its old name with `#[route(label = \"..\")]`, or discard the pending tasks \
                        with `abandon_pending()`";
        assert_migration(&error, head, expected);
        assert_eq!(log(store.thread(&corrected::graph())).await, ["a", "b", "2 finished"]);
    })
    .await;
}

#[tokio::test]
async fn result_of_a_step_that_cannot_be_read_is_named() {
    for corrected in [corrected::charges(), renamed::charges()] {
        on_every_store(async |store| {
        store.thread(&before::charges()).run(Work::input("charge")).await.unwrap_err();
        let error = store.thread(&after::charges()).resume(()).await.unwrap_err();
        let ErrorKind::Node { first, .. } = error.kind() else { panic!("{error:?}") };
        assert_eq!(first.node, "charge");
        let task = format!("{}:0", head(store).await);
        assert_eq!(
            first.error.to_string(),
            format!(
                "durable step `charge` failed: its stored result cannot be read: missing field `tools` at line 1 column 17 \
                 (thread `t`, task `{task}`); let its type read the old JSON, for example with `#[serde(default)]` on a \
                 new field, or change the key to run the step again"
            )
        );
        // The result stays stored.
        assert_eq!(log(store.thread(&corrected)).await, ["charge"]);
    })
    .await;
    }
}

#[tokio::test]
async fn tasks_that_cannot_be_read_can_be_discarded() {
    for failing in ["work", "beside"] {
        on_every_store(async |store| {
            outdated(store, failing, &after::graph()).await;
            let thread = store.thread(&after::graph());
            let outcome = thread.run(Work::input("nothing")).abandon_pending().await.unwrap();
            assert_eq!(outcome.state().log, ["a", "b", "2 finished"]);
        })
        .await;
    }
}

/// A machine whose node has failed with its data.
macro_rules! machine {
    ($version:ident, $fails:expr, $($field:tt)*) => {
        mod $version {
            use super::*;

            #[derive(Machine)]
            #[machine(nodes(Draft, Send), output = String)]
            pub(super) struct Mail;

            #[derive(Serialize, Deserialize, Debug)]
            pub(super) struct Draft;

            #[derive(Serialize, Deserialize, Debug)]
            pub(super) struct Send {
                to: String,
                $($field)*
            }

            impl Draft {
                async fn run(&self) -> Send {
                    serde_json::from_value(json!({"to": "ann", "tools": []})).unwrap()
                }
            }

            impl Send {
                async fn run(&self) -> Result<To<Mail, (End<String>,)>, NodeError> {
                    if $fails {
                        bail!("no post today");
                    }
                    Ok(to(End(self.to.clone())))
                }
            }
        }
    };
}

machine!(mail_before, true,);
machine!(mail_after, false, tools: Vec<String>,);
machine!(mail_corrected, false, #[serde(default)] tools: Vec<String>,);

#[tokio::test]
async fn data_of_a_machine_node_that_cannot_be_read_is_named() {
    on_every_store(async |store| {
        let before = mail_before::Mail::compile().unwrap().with_checkpointer(store.open()).thread("t");
        before.run(mail_before::Mail::start(mail_before::Draft)).await.unwrap_err();
        let after = mail_after::Mail::compile().unwrap().with_checkpointer(store.open()).thread("t");
        let error = after.resume(()).await.unwrap_err();
        let error = format!("{error:?}");
        let expected = "the packet of node `Send` cannot be read: missing field `tools` at line 1 column 12";
        assert!(error.contains(expected), "{error}");
        let corrected = mail_corrected::Mail::compile().unwrap().with_checkpointer(store.open()).thread("t");
        assert_eq!(corrected.resume(()).await.unwrap().ended().unwrap().output, "ann");
    })
    .await;
}
