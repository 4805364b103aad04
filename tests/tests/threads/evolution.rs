//! A thread that an older program has left in the middle is gone on with by a newer one.

use std::error::Error as _;

use serde::{Deserialize, Serialize};
use superstep::checkpoint::CheckpointSource;
use superstep::interrupt::Question;
use superstep::{END, ErrorKind, Graph, GraphState, NodeError, START, StateGraph};

use super::stores::{Place, on_every_store};

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
        /// In euros, it was in cents.
        #[state(input)]
        pub(super) price: f64,
        /// They were texts, and are numbered.
        #[state(input, reducer = append)]
        pub(super) steps: Vec<(u32, String)>,
        /// It was called `customer`.
        #[state(input, alias = "customer")]
        pub(super) buyer: Option<String>,
        /// It is new; `notes` is gone.
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

/// What the older program leaves: a finished task, one that has failed, and one that asks.
async fn left_by_the_older(place: &Place) {
    let input = before::Order::input("hat", 1100).customer("Ada").steps(["begun".to_owned()]);
    place.thread(&before::graph()).run(input).await.unwrap_err();
}

fn steps(order: &after::Order) -> String {
    order.steps.iter().map(|(length, step)| format!("{length} {step}")).collect::<Vec<_>>().join("; ")
}

#[tokio::test]
async fn states_history_and_questions_of_an_older_program_are_read() {
    on_every_store(async |place| {
        left_by_the_older(place).await;
        let thread = place.thread(&after::graph());
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
async fn results_and_answers_of_an_older_program_are_gone_on_with() {
    on_every_store(async |place| {
        left_by_the_older(place).await;
        let question = place.thread(&before::graph()).interrupts().await.unwrap().only::<Approve>().unwrap();
        let outcome = place.thread(&after::graph()).resume(question.answer(true)).await.unwrap();
        let expected = "5 begun; 6 priced; 9 attempt 2; 13 approved true; 24 12.5 EUR for Some(\"Ada\")";
        assert_eq!(steps(outcome.state()), expected);
        // What was stored by both is read by the newer, at every checkpoint.
        let thread = place.thread(&after::graph());
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
async fn an_update_that_the_newer_program_has_left_on_a_checkpoint_of_the_older_is_its_own() {
    on_every_store(async |place| {
        left_by_the_older(place).await;
        // The question is open still: the update waits beside the older program's results.
        let update = after::Order::update().steps([(3, "new".to_owned())]).price(0.5);
        let outcome = place.thread(&after::graph()).resume(()).update(update).await.unwrap();
        let question = outcome.pause().unwrap().only::<Approve>().unwrap();
        let outcome = place.thread(&after::graph()).resume(question.answer(false)).await.unwrap();
        let said = steps(outcome.state());
        assert!(said.starts_with("5 begun; 3 new; 6 priced; 9 attempt 2; 14 approved false; "), "{said}");
    })
    .await;
}

#[tokio::test]
async fn what_a_newer_program_has_stored_is_refused_by_an_older_one() {
    on_every_store(async |place| {
        let input = after::Order::input("hat", 11.0);
        place.thread(&after::graph()).run(input).await.unwrap_err();
        let thread = place.thread(&before::graph());
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
        assert_eq!(place.thread(&after::graph()).history().await.unwrap().len(), 2, "nothing was written");
    })
    .await;
}

#[tokio::test]
async fn an_input_of_an_older_program_that_is_run_again_is_the_newers_from_then_on() {
    on_every_store(async |place| {
        left_by_the_older(place).await;
        let input = before::Order::input("coat", 2200).steps(["more".to_owned()]);
        place.thread(&before::graph()).run(input).abandon_pending().await.unwrap_err();
        let thread = place.thread(&after::graph());
        let inputs = thread.history().source(CheckpointSource::Input).await.unwrap();
        for (input, price, said) in [(&inputs[0], 22.0, "5 begun; 4 more"), (&inputs[1], 11.0, "5 begun")] {
            let mut from = input.id;
            for _ in 0..3 {
                thread.at(from).run_again().await.unwrap_err();
                let state = thread.state().await.unwrap().unwrap().state.unwrap();
                assert_eq!((state.price, steps(&state).as_str()), (price, said));
                from = thread.history().source(CheckpointSource::Fork).limit(1).await.unwrap()[0].id;
            }
        }
    })
    .await;
}
