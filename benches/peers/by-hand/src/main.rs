//! The workloads without a library: a loop over boxed async functions that return partial updates.
//!
//! Only the work of every engine is here: nodes that are chosen at run time, a separate update, and its application.

mod fields;
mod sqlite;

use std::future::ready;
use std::hint::black_box;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::future::join_all;
use harness::{Bench, CHAIN, LOOP, ROUNDS, STEPS, WIDTH, Workload, content, sum};
use serde::{Deserialize, Serialize};
use tokio::task::JoinSet;

fn main() {
    let bench = Bench::from_args();
    match bench.workload {
        Workload::Chain => chain(&bench),
        Workload::Loop => looped(&bench),
        Workload::FanOut => fan_out(&bench, 1),
        Workload::FanOutThreads => spawned(&bench),
        Workload::FanOutLoop => fan_out(&bench, ROUNDS),
        Workload::Fields60 => fields::with_60(&bench),
        Workload::Fields100 => fields::with_100(&bench),
        Workload::Messages => messages(&bench),
        Workload::MessagesMemory => in_memory(&bench),
        Workload::MessagesSqlite => sqlite::queued(&bench),
        Workload::MessagesSqliteSync => sqlite::in_turn(&bench),
        Workload::MessagesSqliteDeltas => bench.same_as("messages-sqlite"),
    }
}

/// A node: an async function from the state to an update.
pub(crate) type Boxed<S, U> =
    Box<dyn for<'a> Fn(&'a S) -> Pin<Box<dyn Future<Output = U> + Send + 'a>> + Send + Sync>;

#[derive(Clone)]
struct Count {
    total: u64,
}

struct CountUpdate {
    total: Option<u64>,
}

async fn add(count: &Count) -> CountUpdate {
    CountUpdate { total: Some(count.total + 1) }
}

fn add_node() -> Boxed<Count, CountUpdate> {
    Box::new(|count| Box::pin(add(count)))
}

fn apply(count: &mut Arc<Count>, update: CountUpdate) {
    if let Some(total) = update.total {
        Arc::make_mut(count).total = total;
    }
}

fn chain(bench: &Bench) {
    let nodes: Arc<Vec<_>> = Arc::new((0..CHAIN).map(|_| add_node()).collect());
    bench.time(
        move |_| ready(Arc::clone(&nodes)),
        |nodes| async move {
            let mut count = Arc::new(Count { total: 0 });
            for node in nodes.iter() {
                let update = black_box(node)(&count).await;
                apply(&mut count, update);
            }
            count.total
        },
        |_, total| async move { assert_eq!(total, CHAIN) },
    );
}

fn looped(bench: &Bench) {
    let node = Arc::new(add_node());
    bench.time(
        move |_| ready(Arc::clone(&node)),
        |node| async move {
            let mut count = Arc::new(Count { total: 0 });
            while count.total < LOOP {
                let update = black_box(&node)(&count).await;
                apply(&mut count, update);
            }
            count.total
        },
        |_, total| async move { assert_eq!(total, LOOP) },
    );
}

#[derive(Clone)]
struct Sums {
    round: u64,
    total: u64,
}

struct SumsUpdate {
    round: Option<u64>,
    total: Option<u64>,
}

type BoxedUpdate = Pin<Box<dyn Future<Output = SumsUpdate> + Send>>;

fn work(_: &Arc<Sums>, item: u64) -> BoxedUpdate {
    Box::pin(async move { SumsUpdate { round: None, total: Some(black_box(item)) } })
}

fn collect(sums: &Arc<Sums>) -> BoxedUpdate {
    let sums = Arc::clone(sums);
    Box::pin(async move { SumsUpdate { round: Some(sums.round + 1), total: None } })
}

fn add_up(sums: &mut Arc<Sums>, updates: Vec<SumsUpdate>) {
    let sums = Arc::make_mut(sums);
    for update in updates {
        sums.total += update.total.unwrap_or(0);
        sums.round = update.round.unwrap_or(sums.round);
    }
}

fn fan_out(bench: &Bench, rounds: u64) {
    bench.time(
        |_| ready(()),
        move |()| async move {
            let mut sums = Arc::new(Sums { round: 0, total: 0 });
            while sums.round < rounds {
                let updates = join_all((0..WIDTH).map(|item| work(&sums, item))).await;
                add_up(&mut sums, updates);
                let last = collect(&sums).await;
                add_up(&mut sums, vec![last]);
            }
            sums.total
        },
        move |(), total| async move { assert_eq!(total, rounds * sum()) },
    );
}

/// A fan-out whose tasks the runtime may run on other threads.
fn spawned(bench: &Bench) {
    bench.time(
        |_| ready(()),
        |()| async move {
            let mut sums = Arc::new(Sums { round: 0, total: 0 });
            let mut set = JoinSet::new();
            for item in 0..WIDTH {
                set.spawn(work(&sums, item));
            }
            let updates = set.join_all().await;
            add_up(&mut sums, updates);
            let last = collect(&sums).await;
            add_up(&mut sums, vec![last]);
            sums.total
        },
        |(), total| async move { assert_eq!(total, sum()) },
    );
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Message {
    role: String,
    content: String,
}

#[derive(Clone, Default)]
struct Chat {
    messages: Vec<Message>,
}

/// The messages to append.
struct ChatUpdate {
    messages: Option<Vec<Message>>,
}

async fn answer(chat: &Chat) -> ChatUpdate {
    let message = Message { role: "assistant".to_owned(), content: content(chat.messages.len() as u64) };
    ChatUpdate { messages: Some(vec![message]) }
}

fn answer_node() -> Boxed<Chat, ChatUpdate> {
    Box::new(|chat| Box::pin(answer(chat)))
}

fn append(chat: &mut Arc<Chat>, update: ChatUpdate) {
    Arc::make_mut(chat).messages.extend(update.messages.unwrap_or_default());
}

fn check(messages: &[Message]) {
    assert_eq!(messages.len() as u64, STEPS);
    assert_eq!(messages.last().map(|message| &message.content), Some(&content(STEPS - 1)));
}

fn messages(bench: &Bench) {
    let node = Arc::new(answer_node());
    bench.time(
        move |_| ready(Arc::clone(&node)),
        |node| async move {
            let mut chat = Arc::new(Chat::default());
            while (chat.messages.len() as u64) < STEPS {
                let update = black_box(&node)(&chat).await;
                append(&mut chat, update);
            }
            chat
        },
        |_, chat| async move { check(&chat.messages) },
    );
}

/// Keeps the new message of each step as JSON.
fn in_memory(bench: &Bench) {
    let node = Arc::new(answer_node());
    bench.time(
        move |_| ready(Arc::clone(&node)),
        |node| async move {
            let mut chat = Arc::new(Chat::default());
            let mut stored = Vec::new();
            while (chat.messages.len() as u64) < STEPS {
                let update = black_box(&node)(&chat).await;
                stored.push(serde_json::to_vec(&update.messages).expect("JSON"));
                append(&mut chat, update);
            }
            stored
        },
        |_, stored| async move {
            let restored = stored
                .iter()
                .flat_map(|json| serde_json::from_slice::<Vec<Message>>(json).expect("messages"));
            check(&restored.collect::<Vec<_>>());
        },
    );
}
