//! A history is read in few calls, and has the same snapshots as single reads.

use serde_json::{Value, json};
use superstep::checkpoint::CheckpointSource;
use superstep::reducers::{ReduceError, Reducer, Stamp, StoredAs};
use superstep::thread::{Snapshot, Thread, as_node};
use superstep::{END, Graph, GraphState, Overwrite, Route, START, StateGraph};

use super::listing::Counted;
use super::stores::{TestStore, on_every_store};

#[derive(GraphState, Clone, Debug)]
struct Round {
    #[state(input)]
    rounds: u32,
    round: u32,
    #[state(reducer = append)]
    lines: Vec<String>,
    #[state(reducer = max)]
    best: u32,
    #[state(reducer = Joined)]
    text: String,
    #[state(ephemeral)]
    hint: Option<u32>,
    #[state(untracked)]
    clicks: u32,
    weight: f64,
}

/// Appends to a string, and is stored as deltas.
struct Joined;

impl Reducer<String> for Joined {
    type Update = String;
    type Delta = String;
    const STORED: StoredAs = StoredAs::Delta;

    fn prepare(update: String, _: &Stamp<'_>) -> Result<String, ReduceError> {
        Ok(update)
    }

    fn fold(value: &mut String, delta: String) -> Result<(), ReduceError> {
        value.push_str(&delta);
        Ok(())
    }
}

#[derive(Route)]
enum Next {
    #[to(turn)]
    Again,
    #[to(END)]
    Out,
}

async fn turn(at: &Round) -> (RoundUpdate, Next) {
    let round = at.round + 1;
    let mut update = Round::update().round(round).lines([format!("line {round}")]).best(round % 7);
    update = update.text(format!("{round},")).clicks(round).weight(f64::from(round) / 3.0);
    if round.is_multiple_of(5) {
        update = update.lines(Overwrite(vec![format!("only {round}")])).hint(round);
    }
    (update, if round < at.rounds { Next::Again } else { Next::Out })
}

fn graph() -> Graph<Round> {
    StateGraph::<Round>::new().edge(START, turn).compile().unwrap()
}

async fn same_as_single_reads(thread: &Thread<Round>, history: &[Snapshot<Round>]) {
    assert!(history.is_sorted_by(|one, other| one.id > other.id));
    for snapshot in history {
        let alone = thread.at(snapshot.id).state().await.unwrap().unwrap();
        assert_eq!(serde_json::to_value(snapshot).unwrap(), serde_json::to_value(&alone).unwrap());
        let clicks = |snapshot: &Snapshot<Round>| snapshot.state.as_ref().map(|state| state.clicks);
        assert_eq!(clicks(snapshot), clicks(&alone));
    }
}

#[tokio::test]
async fn history_equals_single_reads() {
    on_every_store(async |store| {
        let thread = store.thread(&graph());
        thread.run(Round::input(12)).metadata("user", "ann").await.unwrap();
        let old = thread.history().await.unwrap()[6].id;
        thread
            .at(old)
            .update(
                Round::update().lines(["side".to_owned()]).round(9_u32),
                as_node(turn).with_route(Next::Again),
            )
            .await
            .unwrap();
        thread
            .resume(())
            .update(Round::update().text("told".to_owned()))
            .metadata("user", "bob")
            .await
            .unwrap();
        thread.run(Round::input(3)).await.unwrap();
        let all = thread.history().await.unwrap();
        same_as_single_reads(&thread, &all).await;
        let json: Vec<Value> = all.iter().map(|at| serde_json::to_value(at).unwrap()).collect();
        for limit in [1, 2, 5, 1_000] {
            let mut pages = thread.history().limit(limit);
            let mut paged = pages.next_page().await.unwrap();
            while let Some(last) = paged.last().map(|last| last.id) {
                let rest = thread.history().before(last).limit(limit).await.unwrap();
                if rest.is_empty() {
                    break;
                }
                paged.extend(rest);
            }
            assert!(pages.next_page().await.unwrap().is_empty());
            let paged: Vec<Value> = paged.iter().map(|at| serde_json::to_value(at).unwrap()).collect();
            assert_eq!(paged, json, "pages of {limit}");
        }
        for source in [CheckpointSource::Input, CheckpointSource::Loop, CheckpointSource::Update] {
            let of_source = thread.history().source(source).await.unwrap();
            let expected = all.iter().filter(|at| at.source == source).count();
            assert_eq!(of_source.len(), expected);
            same_as_single_reads(&thread, &of_source).await;
        }
        same_as_single_reads(&thread, &thread.history().filter("user", "ann").await.unwrap()).await;
    })
    .await;
}

#[tokio::test]
async fn history_of_a_thousand_checkpoints_is_two_calls() {
    async fn check(store: TestStore) {
        let counted = Counted::new(&store);
        let thread = graph().with_checkpointer(counted.clone()).thread("t");
        thread.run(Round::input(998)).recursion_limit(998).await.unwrap();
        counted.counts();
        let all = thread.history().await.unwrap();
        assert_eq!((all.len(), counted.counts()), (1_000, (0, 0, 2)));
        let first = thread.history().limit(1_000).next_page().await.unwrap();
        assert_eq!((first.len(), counted.counts()), (1_000, (0, 0, 2)));
        assert_eq!(
            all[3].tasks[0].result.as_ref().map(|update| json!(update)["round"].clone()),
            Some(json!(996))
        );
        // One page and the epoch.
        assert_eq!(thread.history().limit(3).await.unwrap().len(), 3);
        assert_eq!(counted.counts(), (0, 0, 2));
    }
    check(TestStore::memory()).await;
    check(TestStore::file()).await;
}
