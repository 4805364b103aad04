//! A thread that an older program left unfinished, continued by a newer program.

use std::error::Error as _;

use serde::{Deserialize, Serialize};
use superstep::checkpoint::CheckpointSource;
use superstep::interrupt::Question;
use superstep::{END, ErrorKind, Graph, GraphState, NodeError, START, StateGraph};

use super::stores::{TestStore, on_every_store};

#[derive(Serialize, Deserialize)]
struct Approve;

impl Question for Approve {
    type Answer = bool;
}

/// The graph of every version: `price` finishes, `draft` fails, `ask` asks; then `report`.
macro_rules! graph {
    () => {
        pub(super) fn graph() -> Graph<Order> {
            StateGraph::<Order>::new()
                .edge(START, (price, draft, ask))
                .join((price, draft, ask), report)
                .edge(report, END)
                .compile()
                .unwrap()
        }
    };
}

mod before {
    use superstep::Context;

    use super::*;

    #[derive(GraphState, Clone)]
    pub(super) struct Order {
        #[state(input)]
        pub(super) item: String,
        /// In cents.
        #[state(input)]
        pub(super) price: u32,
        #[state(input, reducer = append)]
        pub(super) steps: Vec<String>,
        #[state(input)]
        pub(super) customer: Option<String>,
        pub(super) notes: Option<String>,
    }

    async fn price(_: &Order) -> OrderUpdate {
        Order::update().price(1250).steps(["priced".to_owned()])
    }

    async fn draft(_: &Order, cx: &Context) -> Result<OrderUpdate, NodeError> {
        for _ in 0..3 {
            tokio::task::yield_now().await;
        }
        Err(NodeError::msg(format!("attempt {}", cx.attempt())))
    }

    async fn ask(_: &Order, cx: &Context) -> OrderUpdate {
        Order::update().steps([format!("approved {}", cx.interrupt(Approve).await)])
    }

    async fn report(_: &Order) {}

    graph!();
}

mod after {
    use serde_json::json;
    use superstep::Context;
    use superstep::state::{MigrationError, Stored};

    use super::*;

    #[derive(GraphState, Clone, Debug, PartialEq)]
    #[state(version = 1, migrate = migrate)]
    pub(super) struct Order {
        #[state(input)]
        pub(super) item: String,
        /// In euros. It was in cents before.
        #[state(input)]
        pub(super) price: f64,
        /// Numbered. They were plain strings before.
        #[state(input, reducer = append)]
        pub(super) steps: Vec<(u32, String)>,
        /// Was named `customer` before.
        #[state(input, alias = "customer")]
        pub(super) buyer: Option<String>,
        /// A new field. `notes` was removed.
        #[state(default = "EUR".to_owned())]
        pub(super) currency: String,
    }

    fn migrate(_: u32, stored: &mut Stored) -> Result<(), MigrationError> {
        stored.change("price", |cents| Ok(json!(cents.as_f64().ok_or("no number")? / 100.0)))?;
        stored.change("steps", |steps| {
            let steps = steps.as_array().ok_or("no list")?;
            Ok(steps.iter().map(|step| json!([step.as_str().map_or(0, str::len), step])).collect())
        })
    }

    fn step(text: String) -> OrderUpdate {
        Order::update().steps([(text.len() as u32, text)])
    }

    async fn price() -> Result<OrderUpdate, NodeError> {
        Err(NodeError::msg("it has finished, and does not run again"))
    }

    async fn draft(_: &Order, cx: &Context) -> OrderUpdate {
        step(format!("attempt {}", cx.attempt()))
    }

    async fn ask(_: &Order, cx: &Context) -> OrderUpdate {
        step(format!("approved {}", cx.interrupt(Approve).await))
    }

    async fn report(order: &Order) -> OrderUpdate {
        step(format!("{} {} for {:?}", order.price, order.currency, order.buyer))
    }

    graph!();
}

/// Leaves a finished task, a failed task and a task that asks.
async fn run_older_program(store: &TestStore) {
    let input = before::Order::input("hat", 1100).customer("Ada").steps(["begun".to_owned()]);
    store.thread(&before::graph()).run(input).await.unwrap_err();
}

fn steps(order: &after::Order) -> String {
    order.steps.iter().map(|(length, step)| format!("{length} {step}")).collect::<Vec<_>>().join("; ")
}

#[tokio::test]
async fn newer_program_reads_states_history_and_interrupts() {
    on_every_store(async |store| {
        run_older_program(store).await;
        let thread = store.thread(&after::graph());
        let snapshot = thread.state().await.unwrap().unwrap();
        let expected = after::Order {
            item: "hat".to_owned(),
            price: 11.0,
            steps: vec![(5, "begun".to_owned())],
            buyer: Some("Ada".to_owned()),
            currency: "EUR".to_owned(),
        };
        assert_eq!(snapshot.state, Some(expected));
        assert_eq!(thread.history().await.unwrap().len(), 2);
        assert_eq!(snapshot.tasks[1].error.as_ref().unwrap().text, "attempt 1");
        assert_eq!(thread.interrupts().await.unwrap().interrupts().len(), 1);
    })
    .await;
}

#[tokio::test]
async fn newer_program_continues_with_results_and_answers() {
    on_every_store(async |store| {
        run_older_program(store).await;
        let question = store.thread(&before::graph()).interrupts().await.unwrap().only::<Approve>().unwrap();
        let outcome = store.thread(&after::graph()).resume(question.answer(true)).await.unwrap();
        let expected = "5 begun; 6 priced; 9 attempt 2; 13 approved true; 24 12.5 EUR for Some(\"Ada\")";
        assert_eq!(steps(outcome.state()), expected);
        // The newer program reads every checkpoint of both.
        let thread = store.thread(&after::graph());
        let lengths: Vec<_> = thread
            .history()
            .await
            .unwrap()
            .iter()
            .map(|at| at.state.as_ref().map_or(0, |state| state.steps.len()))
            .collect();
        assert_eq!(lengths, [5, 4, 1, 0]);
        assert_eq!(thread.state().await.unwrap().unwrap().state.as_ref(), Some(outcome.state()));
    })
    .await;
}

#[tokio::test]
async fn newer_update_on_an_older_checkpoint_is_kept() {
    on_every_store(async |store| {
        run_older_program(store).await;
        // The interrupt is still open: the update waits beside the older program's results.
        let update = after::Order::update().steps([(3, "new".to_owned())]).price(0.5);
        let outcome = store.thread(&after::graph()).resume(()).update(update).await.unwrap();
        let question = outcome.pause().unwrap().only::<Approve>().unwrap();
        let outcome = store.thread(&after::graph()).resume(question.answer(false)).await.unwrap();
        let log = steps(outcome.state());
        assert!(log.starts_with("5 begun; 3 new; 6 priced; 9 attempt 2; 14 approved false; "), "{log}");
    })
    .await;
}

#[tokio::test]
async fn older_program_refuses_newer_states() {
    on_every_store(async |store| {
        let input = after::Order::input("hat", 11.0);
        store.thread(&after::graph()).run(input).await.unwrap_err();
        let thread = store.thread(&before::graph());
        let errors = [
            thread.state().await.map(drop).unwrap_err(),
            thread.resume(()).await.map(drop).unwrap_err(),
            thread.run(before::Order::input("", 1)).abandon_pending().await.map(drop).unwrap_err(),
        ];
        for error in errors {
            let ErrorKind::Migration { thread: name, source, .. } = error.kind() else { panic!("{error:?}") };
            assert_eq!(name, "t");
            let expected = "`Order` is stored in version 1, but this program supports versions up to 0: use a newer version of it";
            assert_eq!(source.to_string(), expected);
            assert!(error.source().is_some());
        }
        assert_eq!(store.thread(&after::graph()).history().await.unwrap().len(), 2, "nothing was written");
    })
    .await;
}

#[tokio::test]
async fn replayed_input_of_an_older_program_is_migrated() {
    on_every_store(async |store| {
        run_older_program(store).await;
        let input = before::Order::input("coat", 2200).steps(["more".to_owned()]);
        store.thread(&before::graph()).run(input).abandon_pending().await.unwrap_err();
        let thread = store.thread(&after::graph());
        let inputs = thread.history().source(CheckpointSource::Input).await.unwrap();
        for (input, price, expected) in [(&inputs[0], 22.0, "5 begun; 4 more"), (&inputs[1], 11.0, "5 begun")]
        {
            let mut from = input.id;
            for _ in 0..3 {
                thread.at(from).run_again().await.unwrap_err();
                let state = thread.state().await.unwrap().unwrap().state.unwrap();
                assert_eq!((state.price, steps(&state).as_str()), (price, expected));
                from = thread.history().source(CheckpointSource::Fork).limit(1).await.unwrap()[0].id;
            }
        }
    })
    .await;
}
