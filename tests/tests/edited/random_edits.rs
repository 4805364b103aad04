//! Random sequences of runs, edits, branches and roll backs. A roll back restores the thread as it was when it first
//! stopped at its checkpoint, whatever has happened since. A request that is sent again applies once.
#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a wrong index fails the test, which names the seed"
)]

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use superstep::checkpoint::{CheckpointId, CheckpointQuery, CheckpointSource, NamespaceQuery, Prune};
use superstep::interrupt::Question;
use superstep::subgraph::{CallResult, Mapped, Subgraph};
use superstep::thread::{Thread, as_node, keep_plan};
use superstep::{ContextWith, Durability, END, Graph, NodeError, Outcome, START};

use tests::stores::TestStore;
use tests::story::{
    Probe, Story, StoryInput, StoryUpdate, begin, enter, log_of, recording_nodes, say, story,
};

recording_nodes! { first sibling last open close print }

#[derive(Serialize, Deserialize, Debug)]
struct Go;

impl Question for Go {
    type Answer = bool;
}

#[derive(Serialize, Deserialize, Debug)]
struct Then;

impl Question for Then {
    type Answer = bool;
}

async fn ask(_: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
    let yes = cx.interrupt(Go).await;
    enter(cx, "ask").await?;
    Ok(say(format!("ask {yes}")))
}

async fn twice(_: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
    let yes = cx.interrupt(Go).await;
    let then = cx.interrupt(Then).await;
    enter(cx, "twice").await?;
    Ok(say(format!("twice {yes} {then}")))
}

fn inner() -> Graph<Story, Probe> {
    story().edge(START, open).edge(open, ask).edge(ask, close).edge(close, END).compile().unwrap()
}

fn mapped_text(call: CallResult<Story>) -> StoryUpdate {
    say(format!("[{}]", call.state.log.join(",")))
}

type Mapping = Mapped<Story, fn(&Story) -> StoryInput, fn(CallResult<Story>) -> StoryUpdate, StoryUpdate>;

fn kept(graph: &Graph<Story, Probe>, name: &'static str) -> Subgraph<Story, Probe, Mapping> {
    let input: fn(&Story) -> StoryInput = |_| begin("call");
    graph.as_node(name).mapped(input, mapped_text as fn(CallResult<Story>) -> StoryUpdate).per_thread()
}

struct World {
    graph: Graph<Story, Probe>,
    middle: Subgraph<Story, Probe, Mapping>,
    deep: Subgraph<Story, Probe, Mapping>,
    plain: Subgraph<Story, Probe>,
}

/// A fan-out with questions, then a call on the parent's state, then a call that keeps its state, nested twice.
fn world() -> World {
    let deep = kept(&inner(), "deep");
    let middle = story().edge(START, open).edge(open, &deep).edge(&deep, END).compile().unwrap();
    let middle = kept(&middle, "middle");
    let plain: Subgraph<Story, Probe> = inner().as_node("plain");
    let graph = story().edge(START, first).edge(first, (twice, sibling, &middle));
    let graph = graph.join((twice, sibling, &middle), &plain).edge(&plain, last).edge(last, print);
    let graph = graph.edge(print, END).compile().unwrap();
    World { graph, middle, deep, plain }
}

type Tale = Thread<Story, Probe>;

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % end
    }

    fn durability(&mut self) -> Durability {
        [Durability::Sync, Durability::Async, Durability::Exit][self.below(3)]
    }
}

/// The end of a thread whose questions are all answered with `true`.
async fn end_of(thread: &Tale, probe: &Arc<Probe>) -> String {
    let mut outcome = match thread.resume(()).context(Arc::clone(probe)).await {
        Ok(outcome) => outcome,
        Err(error) => return chain(&error).replace(char::is_numeric, ""),
    };
    while let Outcome::Interrupted(pause) = &outcome {
        let open = pause.interrupts().iter();
        let answers: Vec<_> = open.map(|open| open.answer_json(serde_json::json!(true))).collect();
        outcome = thread.resume(answers).context(Arc::clone(probe)).await.unwrap();
    }
    log_of(outcome.state())
}

/// The part of a waiting thread that a person sees.
async fn shown(thread: &Tale) -> Option<(CheckpointId, String)> {
    let head = thread.state().await.unwrap()?;
    let next: Vec<&str> = head.next.iter().map(|next| &**next).collect();
    let log = head.state.as_ref().map(log_of);
    Some((head.id, format!("{} {:?} {log:?} {}", head.step, head.source, next.join(" "))))
}

#[derive(Clone)]
struct Seen {
    shown: String,
    end: String,
}

async fn check(thread: &Tale, store: &TestStore, pruned: bool, about: &str) {
    for at in thread.history().await.unwrap() {
        let again = thread.at(at.id).state().await.unwrap().unwrap();
        assert_eq!(again.state, at.state, "{about}");
        assert_eq!((again.step, &again.next), (at.step, &at.next), "{about}");
        let tasks = |at: &superstep::thread::Snapshot<Story>| format!("{:?}", at.tasks);
        assert_eq!(tasks(&again), tasks(&at), "{about}");
    }
    // Every call belongs to a checkpoint that exists, or to one that was pruned and is older.
    let store = store.open();
    let mut ids: HashMap<String, Vec<CheckpointId>> = HashMap::new();
    for found in store.namespaces(NamespaceQuery::new("t")).await.unwrap().items {
        let query = CheckpointQuery::new("t").namespace(found.namespace.clone());
        let list = store.list(query).await.unwrap().items;
        ids.insert(found.namespace.to_string(), list.iter().map(|found| found.id).collect());
        if found.namespace.is_empty() {
            continue;
        }
        let outer = found.namespace.rsplit_once('/').map_or("", |(outer, _)| outer);
        let outer_ids = ids.get(outer).cloned().unwrap_or_default();
        for checkpoint in list {
            let progress = checkpoint.progress.as_ref().map(|progress| progress.bytes().to_vec());
            let progress: serde_json::Value = serde_json::from_slice(&progress.unwrap()).unwrap();
            let find = |value: &serde_json::Value| value.as_str().and_then(|id| id.parse().ok());
            let parent =
                progress.as_object().unwrap().values().find_map(|value| find(value.get("checkpoint")?));
            let parent: CheckpointId = parent.unwrap_or_else(|| panic!("{about}: {progress}"));
            let of_thread = progress.get("under").and_then(|under| find(under.get("of_thread")?.get("at")?));
            let head = ids.get("").and_then(|ids| ids.first().copied());
            let is_pruned = pruned && Some(of_thread.unwrap_or(parent)) <= head;
            assert!(is_pruned || outer_ids.contains(&parent), "{about}: orphan in {}", found.namespace);
        }
    }
}

async fn play(store: &TestStore, seed: u64, prunes: bool) {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let World { graph, middle, deep, plain } = world();
    let persistent = graph.with_checkpointer(store.open());
    let thread = persistent.thread("t");
    let probe = Arc::new(Probe::default());
    let mut seen: HashMap<CheckpointId, Seen> = HashMap::new();
    let mut ops = Vec::new();
    let mut copies = 0;
    let mut pruned = false;
    for step in 0..14 {
        let head = thread.state().await.unwrap();
        let open: Vec<_> = match &head {
            Some(_) => thread.interrupts().await.unwrap().interrupts().to_vec(),
            None => Vec::new(),
        };
        let history = thread.history().await.unwrap();
        let durability = random.durability();
        let mut rolled_back = None;
        let op = random.below(if prunes { 16 } else { 15 });
        let result: Result<String, superstep::Error> = match op {
            0 | 1 => {
                let abandon = random.below(3) == 0;
                let run = thread.run(begin(&format!("in{step}"))).durability(durability);
                let run = if abandon { run.abandon_pending() } else { run };
                run.context(Arc::clone(&probe)).await.map(|_| format!("run abandon={abandon} {durability:?}"))
            }
            2..=4 if !open.is_empty() => {
                let one = &open[random.below(open.len())];
                let resumed = thread.resume(one.answer_json(serde_json::json!(random.below(2) == 0)));
                let resumed = resumed.durability(durability).context(Arc::clone(&probe));
                resumed.await.map(|_| format!("answer {} {durability:?}", one.id))
            }
            // The same request may be sent again, at any time.
            5 if random.below(2) == 0 => {
                let nth = random.below(step + 1);
                let run =
                    thread.resume(()).update(say(format!("sent{nth}"))).idempotency_key(format!("sent{nth}"));
                let run = run.durability(durability).context(Arc::clone(&probe));
                run.await.map(|_| format!("sent{nth} {durability:?}"))
            }
            8 if random.below(2) == 0 => {
                let nth = random.below(step + 1);
                let place = if random.below(2) == 0 { keep_plan() } else { as_node(first) };
                let update =
                    thread.update(say(format!("sent up{nth}")), place).idempotency_key(format!("up{nth}"));
                update.context(Arc::clone(&probe)).await.map(|_| format!("sent up{nth}"))
            }
            5 => {
                let run = thread.resume(()).update(say(format!("patch{step}"))).durability(durability);
                run.context(Arc::clone(&probe)).await.map(|_| format!("patch {durability:?}"))
            }
            6 => {
                let run = thread.resume(()).goto(as_node(print)).durability(durability);
                run.context(Arc::clone(&probe)).await.map(|_| format!("goto {durability:?}"))
            }
            7 => {
                let update = thread.update(say(format!("keep{step}")), keep_plan());
                update.context(Arc::clone(&probe)).await.map(|_| "keep_plan".to_owned())
            }
            8 => {
                let node = random.below(3);
                let update = match node {
                    0 => thread.update(say(format!("as{step}")), as_node(first)),
                    1 => thread.update(say(format!("as{step}")), as_node(twice)),
                    _ => thread.update(say(format!("as{step}")), as_node(END)),
                };
                update.context(Arc::clone(&probe)).await.map(|_| format!("update as {node}"))
            }
            9 if !history.is_empty() => {
                let at = random.below(history.len());
                let run = thread.at(history[at].id).run_again().durability(durability);
                run.context(Arc::clone(&probe)).await.map(|_| format!("run_again at {at} {durability:?}"))
            }
            10 | 11 => {
                let to = random.below(history.len() + 1);
                let target = history.get(to).map(|at| at.id);
                rolled_back = Some(target);
                thread.roll_back_to(target).await.map(|_| format!("roll back to {to}"))
            }
            15 => {
                let keep = 1 + random.below(4);
                pruned = true;
                persistent
                    .prune(Prune::new().thread("t").keep_last(keep))
                    .await
                    .map(|_| format!("prune {keep}"))
            }
            // In a call that is older than an edit, an update takes back what was done in the call before that.
            12 | 13 if head.as_ref().is_some_and(|head| head.source != CheckpointSource::Update) => {
                let text = say(format!("by hand{step}"));
                let place = vec![as_node(ask), as_node(close), as_node(END), keep_plan()]
                    .swap_remove(random.below(4));
                let place_text = format!("{place:?}");
                // An update between two calls belongs to the checkpoint at which it was made.
                let calls = thread.calls(None).await.unwrap();
                let waits =
                    |name: &str| calls.iter().any(|call| call.namespace == name && !call.next.is_empty());
                let which = if waits("middle") { random.below(3) } else { 0 };
                let made = match which {
                    0 => thread.within(&plain).update(text, place).context(Arc::clone(&probe)).await,
                    1 => {
                        thread
                            .within(&middle)
                            .within(&deep)
                            .update(text, place)
                            .context(Arc::clone(&probe))
                            .await
                    }
                    _ => thread.within(&middle).update(text, place).context(Arc::clone(&probe)).await,
                };
                made.map(|_| format!("by hand in call {which} as {place_text}"))
            }
            14 => {
                let calls =
                    thread.call_history(["plain", "middle", "middle/deep"][random.below(3)]).await.unwrap();
                let at =
                    calls.get(random.below(calls.len().max(1))).map(|call| (call.namespace.clone(), call.id));
                match at {
                    Some((namespace, id)) => {
                        let again = match &*namespace {
                            "plain" => thread.within(&plain).at(id).run_again(),
                            "middle" => thread.within(&middle).at(id).run_again(),
                            _ => thread.within(&middle).within(&deep).at(id).run_again(),
                        };
                        again
                            .durability(durability)
                            .context(Arc::clone(&probe))
                            .await
                            .map(|_| format!("replay in {namespace}"))
                    }
                    None => Ok("nothing".to_owned()),
                }
            }
            _ => Ok("nothing".to_owned()),
        };
        ops.push(match &result {
            Ok(op) => op.clone(),
            Err(error) => format!("op {op} failed: {}", chain(error)),
        });
        let about = format!("seed {seed}:\n  {}", ops.join("\n  "));
        check(&thread, store, pruned, &about).await;
        if let Some(state) = thread.state().await.unwrap().and_then(|head| head.state) {
            let mut sent: Vec<&String> = state.log.iter().filter(|entry| entry.starts_with("sent")).collect();
            let count = sent.len();
            sent.sort();
            sent.dedup();
            assert!(pruned || sent.len() == count, "{about}: {:?}", state.log);
        }
        let Some((id, shown)) = shown(&thread).await else {
            let left = store.open().namespaces(NamespaceQuery::new("t")).await.unwrap().items;
            assert!(left.is_empty(), "{about}: {left:?}");
            continue;
        };
        let is_known = seen.contains_key(&id);
        if is_known && rolled_back.is_none() {
            continue;
        }
        copies += 1;
        let copy = persistent.thread(format!("copy{copies}"));
        thread.copy(copy.name()).await.unwrap();
        let end = end_of(&copy, &probe).await;
        let now = Seen { shown, end };
        match seen.get(&id) {
            Some(then) => {
                assert_eq!(now.shown, then.shown, "{about}");
                if !pruned {
                    assert_eq!(now.end, then.end, "{about}");
                }
            }
            None if rolled_back.is_none() => drop(seen.insert(id, now)),
            None => {}
        }
    }
}

/// The seeds of the sequences. To look for more failures, change them: a failure names its seed.
const SEEDS: std::ops::Range<u64> = 1..30;

#[tokio::test]
async fn roll_back_restores_the_first_stop() {
    for seed in SEEDS {
        play(&TestStore::memory(), seed, false).await;
    }
    play(&TestStore::file(), SEEDS.end, false).await;
    if let Some(store) = TestStore::postgres() {
        play(&store, SEEDS.end, false).await;
    }
}

#[tokio::test]
async fn pruned_thread_has_no_call_without_its_checkpoint() {
    for seed in SEEDS {
        play(&TestStore::memory(), seed, true).await;
    }
    play(&TestStore::file(), SEEDS.end, true).await;
    if let Some(store) = TestStore::postgres() {
        play(&store, SEEDS.end, true).await;
    }
}

/// Returns an error with its causes.
fn chain(error: &superstep::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}
