//! The same deeds, done to a thread. Every deed has a handle of its own on the store, as if by another process.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use superstep::checkpoint::{CheckpointId, Prune};
use superstep::interrupt::{Answer, Question};
use superstep::thread::{AsNode, Snapshot, Thread};
use superstep::{
    ContextWith, END, Error, ErrorKind, Graph, GraphState, NodeError, Outcome, START, StateGraph,
};

use super::reference::{Shown, ShownPoint, ShownTask};
use super::{Broken, Deed};
use crate::stores::Place;

#[derive(GraphState, Clone, Debug)]
struct State {
    #[state(input, default = false)]
    asks: bool,
    #[state(input, reducer = append)]
    log: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct Go;

impl Question for Go {
    type Answer = bool;
}

async fn node(cx: &ContextWith<Broken>, said: String) -> Result<StateUpdate, NodeError> {
    if *cx.context() == Some(cx.node()) {
        // Its sibling comes first.
        for _ in 0..3 {
            tokio::task::yield_now().await;
        }
        return Err(NodeError::msg("broken"));
    }
    Ok(State::update().log([said]))
}

async fn ask(state: &State, cx: &ContextWith<Broken>) -> Result<StateUpdate, NodeError> {
    let answer = if state.asks { cx.interrupt(Go).await.to_string() } else { String::new() };
    node(cx, format!("ask{answer}")).await
}

async fn work(_: &State, cx: &ContextWith<Broken>) -> Result<StateUpdate, NodeError> {
    node(cx, "work".to_owned()).await
}

async fn end(_: &State, cx: &ContextWith<Broken>) -> Result<StateUpdate, NodeError> {
    node(cx, "end".to_owned()).await
}

pub(super) struct Real {
    place: Place,
    graph: Graph<State, Broken>,
    name: String,
    copies: usize,
    /// The number of each checkpoint that ever was.
    numbers: HashMap<CheckpointId, usize>,
    /// The last answer, if it answered something.
    clicked: Option<Answer>,
}

impl Real {
    pub(super) fn new(place: Place) -> Self {
        let graph = StateGraph::<State>::with_context::<Broken>().edge(START, (ask, work));
        let graph = graph.join((ask, work), end).edge(end, END).compile().unwrap();
        Self { place, graph, name: "t".to_owned(), copies: 0, numbers: HashMap::new(), clicked: None }
    }

    fn thread(&self) -> Thread<State, Broken> {
        self.graph.with_checkpointer(self.place.open()).thread(self.name.clone())
    }

    /// One of the checkpoints that are there, oldest first.
    async fn at(&self, at: usize) -> Option<CheckpointId> {
        let history = self.thread().history().await.unwrap();
        let index = at.checked_rem(history.len())?;
        history.iter().rev().nth(index).map(|snapshot| snapshot.id)
    }

    pub(super) async fn does(&mut self, deed: &Deed, word: &str) -> &'static str {
        let thread = self.thread();
        let input = |asks| State::input().asks(asks).log([word.to_owned()]);
        match *deed {
            Deed::Run { asks, abandon, how } => {
                let run = thread.run(input(asks));
                let run = if abandon { run.abandon_pending() } else { run };
                ended(run.durability(how.durability).context(how.broken).await)
            }
            Deed::RunAt { at, asks, how } => {
                let Some(at) = self.at(at).await else { return "nothing" };
                let run = thread.at(at).run(input(asks)).abandon_pending();
                ended(run.durability(how.durability).context(how.broken).await)
            }
            Deed::Resume { answer, patch, how } => {
                let open = thread.interrupts().await.unwrap();
                let open = open.interrupts().first().filter(|_| answer.is_some());
                let answer = open.map(|open| open.answer_json(answer.into()));
                if !self.numbers.is_empty() {
                    self.clicked = answer.clone();
                }
                let run = thread.resume(Vec::from_iter(answer));
                let run = if patch { run.update(State::update().log([word.to_owned()])) } else { run };
                ended(run.durability(how.durability).context(how.broken).await)
            }
            Deed::ClickAgain => match &self.clicked {
                Some(answer) => ended(thread.resume(answer.clone()).context(None).await),
                None if self.numbers.is_empty() => "no thread",
                None => "nothing",
            },
            Deed::Update { at, place } => {
                let update = State::update().log([word.to_owned()]);
                let place = AsNode::named(place);
                let updated = match at {
                    None => thread.update(update, place).context(None).await,
                    Some(at) => {
                        let Some(at) = self.at(at).await else { return "nothing" };
                        thread.at(at).update(update, place).context(None).await
                    }
                };
                updated.map_or_else(|error| kind(&error), |_| "done")
            }
            Deed::RunAgain { at, patch, how } => {
                let Some(at) = self.at(at).await else { return "nothing" };
                let run = thread.at(at).run_again();
                let run = if patch { run.update(State::update().log([word.to_owned()])) } else { run };
                ended(run.durability(how.durability).context(how.broken).await)
            }
            Deed::Prune { keep } => {
                let only =
                    Prune { thread: Some(thread.name().into()), keep_last: Some(keep), ..Prune::default() };
                let graph = self.graph.with_checkpointer(self.place.open());
                graph.prune(only).await.map_or_else(|error| kind(&error), |_| "done")
            }
            Deed::Copy if self.numbers.is_empty() => "nothing",
            Deed::Copy => {
                self.copies += 1;
                let copy = thread.copy(format!("t{}", self.copies)).await.unwrap();
                // What happens to the old one is none of the copy's business.
                thread.delete().await.unwrap();
                self.name = copy.name().to_owned();
                "done"
            }
        }
    }

    pub(super) async fn shows(&mut self) -> Shown {
        let thread = self.thread();
        let history = thread.history().await.unwrap();
        for snapshot in history.iter().rev() {
            let number = self.numbers.len();
            self.numbers.entry(snapshot.id).or_insert(number);
        }
        let head = thread.state().await.unwrap();
        let newest = history.first().map(|newest| self.shown(newest, true));
        assert_eq!(head.map(|head| self.shown(&head, true)), newest);
        let pending = thread.interrupts().await.unwrap();
        Shown {
            points: history.iter().enumerate().map(|(at, snapshot)| self.shown(snapshot, at == 0)).collect(),
            pending: pending.interrupts().iter().map(|open| open.node.clone()).collect(),
        }
    }

    fn shown(&self, snapshot: &Snapshot<State>, is_head: bool) -> ShownPoint {
        let task = |task: &superstep::thread::TaskSnapshot<State>| ShownTask {
            node: task.node.to_string(),
            finished: is_head && task.result.is_some(),
            failed: task.error.is_some(),
            asks: !task.interrupts.is_empty(),
        };
        ShownPoint {
            number: self.numbers[&snapshot.id],
            parent: snapshot.parent.map(|parent| self.numbers[&parent]),
            source: snapshot.source.name(),
            step: snapshot.step,
            state: snapshot.state.as_ref().map(|state| state.log.clone()),
            tasks: snapshot.tasks.iter().map(task).collect(),
        }
    }
}

fn ended(result: Result<Outcome<State>, Error>) -> &'static str {
    match result {
        Ok(Outcome::Done(_)) => "done",
        Ok(Outcome::Interrupted(_)) => "asks",
        Err(error) => kind(&error),
    }
}

fn kind(error: &Error) -> &'static str {
    match error.kind() {
        ErrorKind::PendingTasks { .. } => "pending",
        ErrorKind::NoThread { .. } => "no thread",
        ErrorKind::Node { .. } => "failed",
        ErrorKind::JoinNotFilled { .. } => "join",
        ErrorKind::InterruptNotOpen { .. } => "not open",
        ErrorKind::NothingToRun { .. } => "at rest",
        other => panic!("{other:?}"),
    }
}
