//! Questions and answers that another version of the program has stored.

use serde::{Deserialize, Serialize};
use serde_json::json;
use superstep::interrupt::{InterruptMismatch, Question};
use superstep::{Context, END, ErrorKind, Graph, GraphState, START, StateGraph, bail};

use super::stores::on_every_store;

#[derive(GraphState, Clone, Debug)]
struct Order {
    #[state(input)]
    cents: u32,
    #[state(reducer = append)]
    said: Vec<String>,
}

/// The graph of every version: `review` asks `Approve`, and fails after the answer while `FAIL` is in the input.
macro_rules! graph {
    ($question:expr) => {
        async fn review(order: &Order, cx: &Context) -> superstep::Result<OrderUpdate> {
            let answer = cx.interrupt($question(order)).await;
            if order.cents == 666 && cx.attempt() == 1 {
                bail!("not yet");
            }
            Ok(Order::update().said([format!("{answer:?}")]))
        }

        pub(super) fn graph() -> Graph<Order> {
            StateGraph::<Order>::new().edge(START, review).edge(review, END).compile().unwrap()
        }
    };
}

/// Prices in cents, answered with a boolean.
mod v0 {
    use super::*;

    #[derive(Serialize, Deserialize, Debug)]
    pub(super) struct Approve {
        pub(super) price: u32,
    }

    impl Question for Approve {
        type Answer = bool;
    }

    graph!(|order: &Order| Approve { price: order.cents });
}

/// Prices in euros, answered with a verdict.
mod v1 {
    use serde_json::Value;
    use superstep::interrupt::MigratedJson;

    use super::*;

    #[derive(Serialize, Deserialize, Debug)]
    pub(super) struct Approve {
        pub(super) euros: f64,
    }

    #[derive(Serialize, Deserialize, Debug)]
    pub(super) enum Verdict {
        Yes,
        No { reason: String },
    }

    impl Question for Approve {
        type Answer = Verdict;
        const VERSION: u32 = 1;

        fn migrate(from: u32, question: Value) -> MigratedJson {
            assert_eq!(from, 0);
            let cents = question["price"].as_f64().ok_or("the price is no number")?;
            Ok(json!({"euros": cents / 100.0}))
        }

        fn migrate_answer(from: u32, answer: Value) -> MigratedJson {
            assert_eq!(from, 0);
            Ok(match answer.as_bool().ok_or("no boolean")? {
                true => json!("Yes"),
                false => json!({"No": {"reason": "unknown"}}),
            })
        }
    }

    graph!(|order: &Order| Approve { euros: f64::from(order.cents) / 100.0 });
}

/// A new field, and no migration.
mod unmigrated {
    use super::*;

    #[derive(Serialize, Deserialize, Debug)]
    pub(super) struct Approve {
        pub(super) price: u32,
        pub(super) currency: String,
    }

    impl Question for Approve {
        type Answer = bool;
    }

    graph!(|order: &Order| Approve { price: order.cents, currency: "EUR".to_owned() });
}

/// A new field with a default, which the question has if the price is not 0.
mod defaulted {
    use super::*;

    #[derive(Serialize, Deserialize, Debug)]
    pub(super) struct Approve {
        pub(super) price: u32,
        #[serde(default = "euro")]
        pub(super) currency: String,
    }

    fn euro() -> String {
        "EUR".to_owned()
    }

    impl Question for Approve {
        type Answer = bool;
    }

    graph!(|order: &Order| Approve {
        price: order.cents,
        currency: if order.cents == 0 { "USD".to_owned() } else { euro() },
    });
}

#[tokio::test]
async fn newer_program_answers_an_older_question() {
    on_every_store(async |store| {
        store.thread(&v0::graph()).run(Order::input(1250_u32)).await.unwrap();
        let thread = store.thread(&v1::graph());
        let asked = thread.interrupts().await.unwrap().only::<v1::Approve>().unwrap();
        assert_eq!(asked.euros, 12.5);
        let no = asked.answer(v1::Verdict::No { reason: "dear".to_owned() });
        let outcome = thread.resume(no).await.unwrap();
        assert_eq!(outcome.state().said, ["No { reason: \"dear\" }"]);
    })
    .await;
}

#[tokio::test]
async fn answer_in_json_has_the_version_of_its_question() {
    on_every_store(async |store| {
        store.thread(&v0::graph()).run(Order::input(1250_u32)).await.unwrap();
        // The client was shown the older question with its schema.
        let thread = store.thread(&v1::graph());
        let open = thread.interrupts().await.unwrap().interrupts()[0].clone();
        assert_eq!((open.version, &open.answer_schema), (0, &Some(json!({"type": "boolean"}))));
        let outcome = thread.resume(open.answer_json(json!(false))).await.unwrap();
        assert_eq!(outcome.state().said, ["No { reason: \"unknown\" }"]);
    })
    .await;
}

#[tokio::test]
async fn resume_asks_an_older_question_again() {
    on_every_store(async |store| {
        store.thread(&v0::graph()).run(Order::input(1250_u32)).await.unwrap();
        let thread = store.thread(&v1::graph());
        thread.resume(()).await.unwrap();
        let open = thread.interrupts().await.unwrap().interrupts()[0].clone();
        assert_eq!((open.version, &open.question), (1, &json!({"euros": 12.5})));
        let outcome = thread.resume(open.answer_json(json!("Yes"))).await.unwrap();
        assert_eq!(outcome.state().said, ["Yes"]);
    })
    .await;
}

#[tokio::test]
async fn page_of_an_older_question_answers_the_same_question_in_its_new_form() {
    on_every_store(async |store| {
        for cents in [1250_u32, 666] {
            store.thread(&v0::graph()).run(Order::input(cents)).await.unwrap();
            let thread = store.thread(&v1::graph());
            let page = thread.interrupts().await.unwrap().interrupts()[0].clone();
            // After the deployment, the question was asked again twice.
            thread.resume(()).await.unwrap();
            thread.resume(()).await.unwrap();
            let open = thread.interrupts().await.unwrap().interrupts()[0].clone();
            assert_eq!((open.version, &open.question), (1, &json!({"euros": f64::from(cents) / 100.0})));
            assert_ne!(open, page);

            // The answer is checked against the schema that the page shows.
            let error = thread.resume(page.answer_json(json!("Yes"))).await.unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::InvalidAnswer { .. }), "{error}");
            let outcome = match thread.resume(page.answer_json(json!(false))).await {
                // It fails once after the answer.
                Err(_) => thread.resume(()).await.unwrap(),
                Ok(outcome) => outcome,
            };
            assert_eq!(outcome.state().said, ["No { reason: \"unknown\" }"]);
            thread.delete().await.unwrap();
        }
    })
    .await;
}

#[tokio::test]
async fn page_of_a_different_older_question_is_refused() {
    on_every_store(async |store| {
        store.thread(&v0::graph()).run(Order::input(1250_u32)).await.unwrap();
        let thread = store.thread(&v1::graph());
        let page = thread.interrupts().await.unwrap().interrupts()[0].clone();
        thread.resume(()).update(Order::update().cents(99_u32)).await.unwrap();
        let error = thread.resume(page.answer_json(json!(false))).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::InterruptNotOpen { changed: true, .. }), "{error}");
    })
    .await;
}

#[tokio::test]
async fn stored_answers_survive_a_new_version() {
    on_every_store(async |store| {
        // Answered by version 0, which fails after the answer; finished by version 1.
        store.thread(&v0::graph()).run(Order::input(666_u32)).await.unwrap();
        let thread = store.thread(&v0::graph());
        let asked = thread.interrupts().await.unwrap().only::<v0::Approve>().unwrap();
        thread.resume(asked.answer(true)).await.unwrap_err();
        let outcome = store.thread(&v1::graph()).resume(()).await.unwrap();
        assert_eq!(outcome.state().said, ["Yes"]);
    })
    .await;
    on_every_store(async |store| {
        // Asked by version 0, answered by version 1, which fails after the answer.
        store.thread(&v0::graph()).run(Order::input(666_u32)).await.unwrap();
        let thread = store.thread(&v1::graph());
        let asked = thread.interrupts().await.unwrap().only::<v1::Approve>().unwrap();
        thread.resume(asked.answer(v1::Verdict::Yes)).await.unwrap_err();
        // The older program does not read the newer answer, and does not lose it.
        let error = store.thread(&v0::graph()).resume(()).await.unwrap_err();
        let error = format!("{error:?}");
        assert!(
            error.contains("the stored answer to question `Approve`")
                && error
                    .contains("`Approve` is stored in version 1, but this program supports versions up to 0"),
            "{error}"
        );
        let outcome = store.thread(&v1::graph()).resume(()).await.unwrap();
        assert_eq!(outcome.state().said, ["Yes"]);
    })
    .await;
}

#[tokio::test]
async fn older_program_refuses_a_newer_question() {
    on_every_store(async |store| {
        store.thread(&v1::graph()).run(Order::input(1250_u32)).await.unwrap();
        let thread = store.thread(&v0::graph());
        let error = thread.interrupts().await.unwrap().only::<v0::Approve>().unwrap_err();
        assert!(matches!(error, InterruptMismatch::Unreadable { .. }), "{error}");
        assert!(
            error.to_string().contains("supports versions up to 0: use a newer version of it"),
            "{error}"
        );
        // It can ask the question in its own form.
        thread.resume(()).await.unwrap();
        let asked = thread.interrupts().await.unwrap().only::<v0::Approve>().unwrap();
        assert_eq!(thread.resume(asked.answer(true)).await.unwrap().state().said, ["true"]);
    })
    .await;
}

#[tokio::test]
async fn question_without_a_migration_says_how_to_continue() {
    on_every_store(async |store| {
        store.thread(&v0::graph()).run(Order::input(5_u32)).await.unwrap();
        let thread = store.thread(&unmigrated::graph());
        let error = thread.interrupts().await.unwrap().only::<unmigrated::Approve>().unwrap_err();
        let id = thread.interrupts().await.unwrap().interrupts()[0].id.clone();
        assert_eq!(
            error.to_string(),
            format!(
                "question `{id}` cannot be read as `Approve`: missing field `currency`; give new fields \
                 `#[serde(default)]`, implement `Question::migrate`, or have the question asked again with `resume(())`"
            )
        );
        thread.resume(()).await.unwrap();
        let asked = thread.interrupts().await.unwrap().only::<unmigrated::Approve>().unwrap();
        assert_eq!(thread.resume(asked.answer(true)).await.unwrap().state().said, ["true"]);
    })
    .await;
}

#[tokio::test]
async fn default_of_a_new_field_needs_no_version() {
    on_every_store(async |store| {
        store.thread(&v0::graph()).run(Order::input(5_u32)).await.unwrap();
        let thread = store.thread(&defaulted::graph());
        let asked = thread.interrupts().await.unwrap().only::<defaulted::Approve>().unwrap();
        assert_eq!(asked.currency, "EUR");
        // The answer is valid: the question that was stored equals the question as it is asked now.
        assert_eq!(thread.resume(asked.answer(true)).await.unwrap().state().said, ["true"]);
    })
    .await;
}

#[tokio::test]
async fn question_whose_new_field_has_another_value_is_asked_again() {
    on_every_store(async |store| {
        store.thread(&v0::graph()).run(Order::input(0_u32)).await.unwrap();
        let thread = store.thread(&defaulted::graph());
        let asked = thread.interrupts().await.unwrap().only::<defaulted::Approve>().unwrap();
        let outcome = thread.resume(asked.answer(true)).await.unwrap();
        let asked = outcome.pause().unwrap().only::<defaulted::Approve>().unwrap();
        assert_eq!(asked.currency, "USD");
    })
    .await;
}

#[tokio::test]
async fn answer_reaches_a_subgraph_in_its_version() {
    let nested = |graph: Graph<Order>| {
        let node = graph.as_node("sub");
        StateGraph::<Order>::new().edge(START, &node).edge(&node, END).compile().unwrap()
    };
    for cents in [1250_u32, 666] {
        on_every_store(async |store| {
            store.thread(&nested(v0::graph())).run(Order::input(cents)).await.unwrap();
            let thread = store.thread(&nested(v1::graph()));
            let asked = thread.interrupts().await.unwrap().only::<v1::Approve>().unwrap();
            let no = asked.answer(v1::Verdict::No { reason: "dear".to_owned() });
            let outcome = match thread.resume(no).await {
                // The subgraph failed after it had taken the answer over.
                Err(_) => store.thread(&nested(v1::graph())).resume(()).await.unwrap(),
                Ok(outcome) => outcome,
            };
            assert_eq!(outcome.state().said, ["No { reason: \"dear\" }"]);
        })
        .await;
    }
}

#[tokio::test]
async fn failed_migration_is_named() {
    on_every_store(async |store| {
        store.thread(&v0::graph()).run(Order::input(5_u32)).await.unwrap();
        let mut open = store.thread(&v1::graph()).interrupts().await.unwrap().interrupts()[0].clone();
        open.question = json!({"price": "five"});
        let error = open.read::<v1::Approve>().unwrap_err().to_string();
        let reason = "the migration of `Approve` from version 0 failed: the price is no number";
        assert!(error.contains(reason), "{error}");
        let error = store.thread(&v1::graph()).resume(open.answer_json(json!(true))).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::InterruptNotOpen { changed: true, .. }), "{error}");
    })
    .await;
}

/// Asks the same question twice, one after the other.
macro_rules! asking_twice {
    ($question:expr) => {{
        async fn review(order: &Order, cx: &Context) -> OrderUpdate {
            let first = cx.interrupt($question(order)).keyed("first").await;
            let second = cx.interrupt($question(order)).keyed("second").await;
            Order::update().said([format!("{first:?}, {second:?}")])
        }
        StateGraph::<Order>::new().edge(START, review).edge(review, END).compile().unwrap()
    }};
}

#[tokio::test]
async fn roll_back_withdraws_a_question_that_was_answered_in_another_version() {
    let old = || asking_twice!(|order: &Order| v0::Approve { price: order.cents });
    let new = || asking_twice!(|order: &Order| v1::Approve { euros: f64::from(order.cents) / 100.0 });
    on_every_store(async |store| {
        let thread = store.thread(&old());
        thread.run(Order::input(1250_u32)).await.unwrap();
        let head = thread.state().await.unwrap().unwrap().id;
        let first = thread.interrupts().await.unwrap().only::<v0::Approve>().unwrap();
        thread.resume(first.answer(true)).await.unwrap();
        let thread = store.thread(&new());
        let second = thread.interrupts().await.unwrap().only::<v1::Approve>().unwrap();
        assert_ne!(second.id(), first.id());
        let outcome = thread.resume(second.answer(v1::Verdict::Yes)).await.unwrap();
        assert_eq!(outcome.state().said, ["Yes, Yes"]);

        thread.roll_back_to(head).await.unwrap();
        let open = store.thread(&old()).interrupts().await.unwrap();
        assert_eq!(open.only::<v0::Approve>().unwrap().id(), first.id(), "the second was asked later");
    })
    .await;
}
