//! Lists of threads by status, metadata and time, page by page.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use superstep::checkpoint::StatusKind;
use superstep::interrupt::Question;
use superstep::thread::{ListedThread, PersistentGraph, ThreadCursor, ThreadList, ThreadStatus};
use superstep::{Context, END, ErrorKind, Graph, GraphState, NodeError, START, StateGraph};

use super::listing::Counted;
use super::stores::on_every_store;

const HOUR: Duration = Duration::from_secs(60 * 60);

#[derive(GraphState, Clone, Debug)]
struct Ticket {
    #[state(input)]
    does: String,
}

#[derive(Serialize, Deserialize)]
struct Approve;

impl Question for Approve {
    type Answer = bool;
}

async fn work(ticket: &Ticket, cx: &Context) -> Result<(), NodeError> {
    match ticket.does.as_str() {
        "asks" => drop(cx.interrupt(Approve).await),
        "fails" => return Err(NodeError::msg("no power")),
        "sleeps" => cx.sleep(HOUR).await,
        _ => {}
    }
    Ok(())
}

fn graph() -> Graph<Ticket> {
    StateGraph::<Ticket>::new().edge(START, work).edge(work, END).compile().unwrap()
}

/// Runs a thread whose name says what it does, and after a `-` whose it is.
async fn run(graph: &PersistentGraph<Ticket>, name: &str) {
    let (does, tenant) = name.split_once('-').unwrap();
    let run = graph.thread(name).run(Ticket::input(does)).metadata("tenant", tenant).metadata("n", 1);
    let _ = run.suspend_sleeps_longer_than(Duration::ZERO).await;
    // The times of status changes have milliseconds.
    let now = SystemTime::now();
    while SystemTime::now().duration_since(now).unwrap_or_default() < Duration::from_millis(2) {
        tokio::task::yield_now().await;
    }
}

fn names(threads: &[ListedThread<Ticket>]) -> Vec<&str> {
    threads.iter().map(|listed| listed.thread.name()).collect()
}

async fn listed(list: ThreadList<Ticket>) -> Vec<String> {
    names(&list.await.unwrap()).into_iter().map(str::to_owned).collect()
}

const ALL: [&str; 6] = ["ends-acme", "asks-acme", "fails-zoo", "asks-zoo", "sleeps-acme", "ends-zoo"];

#[tokio::test]
async fn threads_are_selected_by_status_metadata_and_name() {
    on_every_store(async |store| {
        let graph = graph().with_checkpointer(store.open());
        for name in ALL {
            run(&graph, name).await;
        }
        let mut sorted = ALL;
        sorted.sort_unstable();
        assert_eq!(listed(graph.list()).await, sorted);
        let open = [StatusKind::WaitingForAnswer, StatusKind::Failed];
        assert_eq!(listed(graph.list().status(open)).await, ["asks-acme", "asks-zoo", "fails-zoo"]);
        assert_eq!(listed(graph.list().status([StatusKind::Finished])).await, ["ends-acme", "ends-zoo"]);
        assert_eq!(listed(graph.list().status([StatusKind::AtLimit])).await, [""; 0]);
        let acme = || graph.list().metadata("tenant", "acme");
        assert_eq!(listed(acme()).await, ["asks-acme", "ends-acme", "sleeps-acme"]);
        assert_eq!(listed(acme().status(open).metadata("n", 1)).await, ["asks-acme"]);
        assert_eq!(listed(acme().metadata("n", "1")).await, [""; 0], "1 is not \"1\"");
        assert_eq!(listed(acme().prefix("s")).await, ["sleeps-acme"]);
        assert_eq!(listed(graph.unfinished().metadata("tenant", "zoo")).await, ["asks-zoo", "fails-zoo"]);
        let due = |time| listed(graph.due(time).metadata("tenant", "acme"));
        assert_eq!(due(SystemTime::now() + 2 * HOUR).await, ["sleeps-acme"]);
        assert_eq!(due(SystemTime::now()).await, [""; 0]);
    })
    .await;
}

#[tokio::test]
async fn listed_thread_keeps_its_metadata_when_it_continues() {
    on_every_store(async |store| {
        let graph = graph().with_checkpointer(store.open());
        run(&graph, "asks-acme").await;
        let waiting = graph.list().await.unwrap();
        assert_eq!(waiting[0].status.kind(), Some(StatusKind::WaitingForAnswer));
        let question = waiting[0].interrupts()[0].answer_json(true.into());
        waiting[0].resume(question).metadata("n", 2).metadata("by", "ann").await.unwrap();
        let found = graph.list().metadata("tenant", "acme").metadata("n", 2).metadata("by", "ann");
        assert_eq!(found.await.unwrap()[0].status.kind(), Some(StatusKind::Finished));
    })
    .await;
}

#[tokio::test]
async fn newest_change_of_status_is_listed_first() {
    on_every_store(async |store| {
        let graph = graph().with_checkpointer(store.open());
        for name in ALL {
            run(&graph, name).await;
        }
        let mut expected: Vec<&str> = ALL.into_iter().rev().collect();
        assert_eq!(listed(graph.list().newest_first()).await, expected);
        let asks = || graph.list().status([StatusKind::WaitingForAnswer]).newest_first();
        assert_eq!(listed(asks()).await, ["asks-zoo", "asks-acme"]);
        let before = graph.list().newest_first().page_size(1).next_page().await.unwrap().unwrap();
        assert!(before[0].changed_at.unwrap() <= SystemTime::now());
        // The thread that changes comes to the front.
        let question = graph.thread("asks-acme").interrupts().await.unwrap().only::<Approve>().unwrap();
        graph.thread("asks-acme").resume(question.answer(true)).await.unwrap();
        expected.retain(|name| *name != "asks-acme");
        expected.insert(0, "asks-acme");
        assert_eq!(listed(graph.list().newest_first()).await, expected);
        // So does a thread that is rolled back.
        run(&graph, "ends-zoo").await;
        let thread = graph.thread("ends-acme");
        let first = thread.history().await.unwrap().pop().unwrap().id;
        thread.roll_back_to(first).await.unwrap();
        assert_eq!(listed(graph.list().newest_first().prefix("ends")).await, ["ends-acme", "ends-zoo"]);
    })
    .await;
}

/// Reads a list with one request for each page, as a server does: only a string connects the requests.
async fn by_cursor(list: impl Fn() -> ThreadList<Ticket>) -> Vec<String> {
    let (mut all, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let mut page = list();
        if let Some(text) = &cursor {
            let json = serde_json::to_string(text).unwrap();
            let parsed: ThreadCursor = serde_json::from_str(&json).unwrap();
            assert_eq!(text.parse(), Ok(parsed.clone()));
            page = page.continue_from(&parsed);
        }
        assert_eq!(page.cursor(), None, "no page was read yet");
        let threads = page.next_page().await.unwrap().unwrap();
        all.extend(names(&threads).into_iter().map(str::to_owned));
        match page.cursor() {
            Some(next) => cursor = Some(next.to_string()),
            None => return all,
        }
    }
}

#[tokio::test]
async fn string_of_a_cursor_continues_the_list() {
    on_every_store(async |store| {
        let graph = graph().with_checkpointer(store.open());
        let odd = ["ends-ä b", "ends-\0", "ends-~7E.", "ends-"];
        for name in ALL.into_iter().chain(odd).chain(["sleeps-1", "sleeps-2", "sleeps-3"]) {
            run(&graph, name).await;
        }
        for size in [1, 2, 3, 100] {
            let later = SystemTime::now() + 2 * HOUR;
            assert_eq!(by_cursor(|| graph.list().page_size(size)).await, listed(graph.list()).await);
            let newest = || graph.list().newest_first();
            assert_eq!(by_cursor(|| newest().page_size(size)).await, listed(newest()).await);
            let due = || graph.due(later);
            assert_eq!(by_cursor(|| due().page_size(size)).await, listed(due()).await);
            let ended = || graph.list().status([StatusKind::Finished]).newest_first();
            assert_eq!(by_cursor(|| ended().page_size(size)).await, listed(ended()).await);
            assert_eq!(listed(due()).await.len(), 4);
        }
        let mut first = graph.list().page_size(1);
        first.next_page().await.unwrap();
        let cursor = first.cursor().unwrap().clone();
        let error = graph.list().newest_first().continue_from(&cursor).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Runtime(_)), "{error}");
        assert!("order 17".parse::<ThreadCursor>().is_err());
    })
    .await;
}

#[tokio::test]
async fn listed_thread_shows_its_status_and_its_run() {
    on_every_store(async |store| {
        let graph = graph().with_checkpointer(store.open());
        for name in ALL {
            run(&graph, name).await;
        }
        let all = graph.list().await.unwrap();
        let status = |name: &str| {
            let found = all.iter().find(|listed| listed.thread.name() == name).unwrap();
            assert_eq!(found.metadata["tenant"], name.split_once('-').unwrap().1);
            assert!(found.checkpoint.is_some() && found.run_id.is_some());
            format!("{:?} {:?}", found.status, found.next)
        };
        assert_eq!(status("ends-zoo"), "Finished []");
        assert!(status("asks-acme").starts_with("WaitingForAnswer(["));
        assert!(status("fails-zoo").starts_with("Failed(["));
        assert_eq!(status("sleeps-acme"), "WaitingForTime [\"work\"]");
        // An entry continues only the thread that it shows.
        let ended = all.into_iter().find(|listed| listed.thread.name() == "ends-acme").unwrap();
        graph.thread("ends-acme").run(Ticket::input("ends")).await.unwrap();
        assert!(matches!(ended.resume(()).await.unwrap_err().kind(), ErrorKind::Conflict(_)));
        assert!(matches!(ended.status, ThreadStatus::Finished));
    })
    .await;
}

#[tokio::test]
async fn page_costs_as_much_as_its_threads() {
    on_every_store(async |store| {
        let counted = Counted::new(store);
        let graph = graph().with_checkpointer(counted.clone());
        for name in ["asks-acme", "fails-zoo", "ends-acme"] {
            run(&graph, name).await;
        }
        for number in 0..2_000 {
            graph.thread("asks-acme").copy(format!("copy {number:04}")).await.unwrap();
        }
        counted.counts();
        let page = async |list: ThreadList<Ticket>| {
            let mut list = list.page_size(5);
            list.next_page().await.unwrap().unwrap().len()
        };
        assert_eq!(page(graph.due(SystemTime::now())).await, 0);
        assert_eq!(counted.counts(), (1, 0, 0), "2,000 threads wait, and none is due");
        assert_eq!(page(graph.list().status([StatusKind::Failed])).await, 1);
        assert_eq!(counted.counts(), (1, 1, 1));
        assert_eq!(page(graph.list().metadata("tenant", "zoo")).await, 1);
        assert_eq!(counted.counts(), (1, 1, 1));
        assert_eq!(page(graph.list().newest_first()).await, 5);
        assert_eq!(counted.counts(), (1, 5, 5));
        let asks = graph.list().status([StatusKind::WaitingForAnswer]).metadata("tenant", "acme");
        assert_eq!(page(asks.newest_first()).await, 5);
        assert_eq!(counted.counts(), (1, 5, 5));
    })
    .await;
}
