//! The content of cached results: updates, routes and packets.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::json;
use superstep::cache::{CachePolicy, MemoryCache};
use superstep::messages::{Message, MessagesState, MessagesStateUpdate, Remove};
use superstep::{
    Context, ContextWith, END, EventKind, GraphState, NodeFailure, Overwrite, Result, Route, START,
    StateGraph, bail,
};

use super::{Page, PageUpdate, RecordingCache, by_url, run};
use crate::engine::trace::{Journal, block_on};

async fn greet(_: &MessagesState) -> MessagesStateUpdate {
    MessagesState::update().messages([Message::ai("hello"), Message::ai("there")])
}

#[test]
fn each_cache_hit_generates_new_ids() {
    let ids = |state: &MessagesState| -> Vec<String> {
        state.messages.iter().map(|message| message.id().unwrap().to_owned()).collect()
    };
    block_on(async {
        let cache = RecordingCache::default();
        let graph = StateGraph::<MessagesState>::new()
            .edge(START, greet)
            .edge(greet, END)
            .cache(greet, CachePolicy::by(|_: &MessagesState| ()))
            .compile()
            .unwrap()
            .with_cache(cache.clone());
        let once = graph.run(MessagesState::input()).await.unwrap().into_state();
        let again =
            graph.run(MessagesState::input().messages(once.messages.clone())).await.unwrap().into_state();
        assert_eq!(again.messages.len(), 4, "the second result does not replace the first");
        assert_eq!(ids(&again)[..2], ids(&once));
        let mut all = ids(&again);
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 4);
        assert_eq!(cache.take(), ["get null", "put null", "get null"]);
    });
}

async fn tidy(_: &MessagesState) -> MessagesStateUpdate {
    MessagesState::update().messages(Remove::all()).messages(Message::system("be kind"))
}

#[test]
fn cache_hit_repeats_removals() {
    block_on(async {
        let graph = StateGraph::<MessagesState>::new()
            .edge(START, tidy)
            .edge(tidy, END)
            .cache(tidy, CachePolicy::by(|_: &MessagesState| ()))
            .compile()
            .unwrap()
            .with_cache(MemoryCache::new());
        for _ in 0..2 {
            let state = graph.run(MessagesState::input().messages("hi")).await.unwrap().into_state();
            assert_eq!(state.messages.len(), 1);
        }
    });
}

fn at_most(value: &mut Vec<u8>, delta: Vec<u8>) {
    value.extend(delta);
    value.truncate(4);
}

#[derive(GraphState, Clone, Debug, PartialEq)]
struct Forms {
    #[state(reducer = append)]
    list: Vec<u8>,
    #[state(reducer = append)]
    maybe: Option<Vec<u8>>,
    #[state(reducer = at_most)]
    own: Vec<u8>,
    plain: Option<u8>,
    secret: Option<u8>,
    #[state(reducer = add)]
    sum: u64,
    #[state(exclude)]
    token: String,
}

async fn forms(_: &Forms) -> FormsUpdate {
    Forms::update()
        .list(Overwrite(vec![9]))
        .list([1])
        .maybe([2])
        .own(vec![5, 6, 7, 8, 9])
        .secret(None)
        .plain(Overwrite(None))
        .secret(Some(3))
        .sum(u64::MAX - 1)
        .token("hunter2")
}

#[test]
fn every_form_of_write_round_trips_through_the_cache() {
    block_on(async {
        let cache = RecordingCache::default();
        let graph = StateGraph::<Forms>::new()
            .edge(START, forms)
            .edge(forms, END)
            .cache(forms, CachePolicy::by(|_: &Forms| ()))
            .compile()
            .unwrap()
            .with_cache(cache.clone());
        let input = || Forms::input().list([1, 2]).plain(Some(1)).own(vec![4]);
        let once = graph.run(input()).await.unwrap().into_state();
        let again = graph.run(input()).await.unwrap().into_state();
        assert_eq!(again, once);
        assert_eq!((once.list, once.own, once.token.as_str()), (vec![9], vec![4, 5, 6, 7], "hunter2"));
        assert_eq!(cache.take(), ["get null", "put null", "get null"]);
    });
}

#[derive(Serialize, Deserialize)]
struct Job(u8);

/// Serializes to null.
#[derive(Serialize, Deserialize)]
struct Bell;

async fn ring(_: &Bell) -> PageUpdate {
    Page::update().log(["rang".to_owned()])
}

#[derive(Route)]
enum Deal {
    #[to(work)]
    Work(Job),
    #[to(ring)]
    Ring(Bell),
    #[to(END)]
    Stop,
}

async fn deal(page: &Page, cx: &ContextWith<Journal>) -> (PageUpdate, Vec<Deal>) {
    cx.context().note("deal");
    let jobs = if page.url == "/none" {
        vec![Deal::Stop]
    } else {
        vec![Deal::Work(Job(1)), Deal::Ring(Bell), Deal::Work(Job(2))]
    };
    (Page::update().log(["dealt".to_owned()]), jobs)
}

async fn work(job: &Job, cx: &ContextWith<Journal>) -> PageUpdate {
    cx.context().note(format!("work {}", job.0));
    Page::update().log([format!("worked {}", job.0)])
}

#[test]
fn cache_hit_repeats_route_and_packets() {
    block_on(async {
        let graph = StateGraph::<Page>::with_context::<Journal>()
            .edge(START, deal)
            .node(deal)
            .edge(work, END)
            .edge(ring, END)
            .cache(deal, by_url())
            .cache(work, CachePolicy::by(|job: &Job, page: &Page| (job.0, page.url.clone())))
            .compile()
            .unwrap()
            .with_cache(MemoryCache::new());
        let journal = Arc::new(Journal::default());
        for _ in 0..2 {
            assert_eq!(run(&graph, &journal, "/a").await.log, ["dealt", "worked 1", "rang", "worked 2"]);
            assert_eq!(run(&graph, &journal, "/none").await.log, ["dealt"]);
        }
        assert_eq!(journal.take(), ["deal", "work 1", "work 2", "deal"]);
    });
}

#[derive(Route)]
enum Way {
    #[to(work_on)]
    On,
    #[to(END)]
    End,
}

async fn look(_: &Page, cx: &ContextWith<Journal>) -> PageUpdate {
    cx.context().note("look");
    Page::update().text("seen")
}

async fn work_on(_: &Page) -> PageUpdate {
    Page::update().log(["on".to_owned()])
}

#[test]
fn cache_hit_calls_the_route_function_again() {
    let way = |page: &Page| if page.url == "/on" && page.text == "seen" { Way::On } else { Way::End };
    block_on(async {
        let graph = StateGraph::<Page>::with_context::<Journal>()
            .edge(START, look)
            .route(look, way)
            .edge(work_on, END)
            .cache(look, CachePolicy::by(|_: &Page| ()))
            .compile()
            .unwrap()
            .with_cache(MemoryCache::new());
        let journal = Arc::new(Journal::default());
        assert_eq!(run(&graph, &journal, "/off").await.log, [""; 0]);
        assert_eq!(run(&graph, &journal, "/on").await.log, ["on"]);
        assert_eq!(journal.take(), ["look"]);
    });
}

async fn fails(page: &Page, cx: &ContextWith<Journal>) -> Result<PageUpdate> {
    cx.context().note("fails");
    match page.url.as_str() {
        "/error" => bail!("no"),
        "/panic" => panic!("no"),
        "/late" => {
            tokio::time::sleep(std::time::Duration::from_secs(100)).await;
            Ok(Page::update())
        }
        _ => Ok(Page::update().text("x".repeat(200_001))),
    }
}

async fn rescue(_: &Page, _: &NodeFailure, cx: &ContextWith<Journal>) -> PageUpdate {
    cx.context().note("rescue");
    Page::update().text("sorry")
}

#[test]
fn failures_and_error_handler_results_are_not_cached() {
    let policy = superstep::policy::Policy::new().timeout(std::time::Duration::from_secs(1));
    let draft = || {
        StateGraph::<Page>::with_context::<Journal>()
            .edge(START, fails)
            .edge(fails, END)
            .policy(fails, policy.clone())
            .cache(fails, by_url())
    };
    block_on(async {
        let (cache, journal) = (RecordingCache::default(), Arc::new(Journal::default()));
        let graph = draft().compile().unwrap().with_cache(cache.clone());
        for url in ["/error", "/panic", "/late", "/long"] {
            for _ in 0..2 {
                graph.run(Page::input(url)).context(Arc::clone(&journal)).await.unwrap_err();
            }
        }
        let rescued = draft().on_error(fails, rescue).compile().unwrap().with_cache(cache.clone());
        for _ in 0..2 {
            assert_eq!(run(&rescued, &journal, "/error").await.text, "sorry");
        }
        assert_eq!(journal.take().len(), 8 + 4);
        assert!(cache.take().iter().all(|call| call.starts_with("get")));
    });
}

#[derive(GraphState, Clone, Debug)]
struct Local {
    number: f64,
    #[state(untracked)]
    handle: u8,
}

async fn local(local: &Local, cx: &ContextWith<Journal>) -> LocalUpdate {
    cx.context().note("local");
    if local.number < 1.0 { Local::update().handle(7).number(2.0) } else { Local::update().number(f64::NAN) }
}

#[test]
fn incompletely_storable_result_is_not_cached() {
    let cache = RecordingCache::default();
    let graph = StateGraph::<Local>::with_context::<Journal>()
        .edge(START, local)
        .edge(local, END)
        .cache(local, CachePolicy::by(|local: &Local| local.number.to_bits()))
        .compile()
        .unwrap()
        .with_cache(cache.clone());
    let mut reasons = Vec::new();
    block_on(async {
        let journal = Arc::new(Journal::default());
        for number in [0.0, 0.0, 1.0] {
            let run = graph.run(Local::input().number(number)).context(Arc::clone(&journal)).stream();
            run.for_each(|event| {
                if let EventKind::TaskNotCached { reason, .. } = &event.kind {
                    reasons.push(reason.clone());
                }
            })
            .await
            .unwrap();
        }
        assert_eq!(journal.take(), ["local"; 3]);
    });
    assert_eq!(
        reasons,
        [
            "the node wrote to an untracked field, which is never stored",
            "the node wrote to an untracked field, which is never stored",
            "field `number` cannot be stored: JSON cannot represent NaN or infinity",
        ]
    );
    assert!(cache.take().iter().all(|call| call.starts_with("get")));
}

#[test]
fn node_that_returns_nothing_is_cached() {
    async fn nothing(_: &Page, cx: &ContextWith<Journal>) {
        cx.context().note(cx.node());
    }
    block_on(async {
        let graph = StateGraph::<Page>::with_context::<Journal>()
            .edge(START, nothing)
            .edge(nothing, END)
            .cache(nothing, by_url())
            .compile()
            .unwrap()
            .with_cache(MemoryCache::new());
        let journal = Arc::new(Journal::default());
        run(&graph, &journal, "/a").await;
        run(&graph, &journal, "/a").await;
        assert_eq!(journal.take(), ["nothing"]);
    });
}

mod asking {
    use superstep::checkpoint::MemoryCheckpointer;
    use superstep::interrupt::Question;

    use super::*;

    #[derive(Serialize, Deserialize)]
    struct Approve;

    impl Question for Approve {
        type Answer = bool;
    }

    async fn approve(page: &Page, cx: &Context) -> PageUpdate {
        if page.url == "/public" {
            return Page::update().text("true");
        }
        Page::update().text(cx.interrupt(Approve).await.to_string())
    }

    #[test]
    fn result_that_depends_on_an_answer_is_not_cached() {
        block_on(async {
            let cache = RecordingCache::default();
            let graph = StateGraph::<Page>::new()
                .edge(START, approve)
                .edge(approve, END)
                .cache(approve, by_url())
                .compile()
                .unwrap()
                .with_cache(cache.clone())
                .with_checkpointer(MemoryCheckpointer::new());
            for (thread, answer) in [("ann", true), ("ben", false)] {
                let thread = graph.thread(thread);
                let pause = thread.run(Page::input("/a")).await.unwrap();
                let question = &pause.pause().unwrap().interrupts()[0];
                let done = thread.resume(question.answer_json(json!(answer))).await.unwrap();
                assert_eq!(done.state().text, answer.to_string());
            }
            assert!(cache.take().iter().all(|call| call.starts_with("get")));
            graph.thread("cy").run(Page::input("/public")).await.unwrap();
            assert_eq!(
                cache.take().pop().unwrap(),
                r#"put "/public""#,
                "a result without a question is cached"
            );
        });
    }
}
