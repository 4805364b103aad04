//! The same actions on a real thread. Each uses a new handle of the store, like another process.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use superstep::checkpoint::{CheckpointId, Prune};
use superstep::interrupt::{Answer, Question};
use superstep::thread::{AsNode, Snapshot, Thread};
use superstep::{
    ContextWith, END, Error, ErrorKind, Graph, GraphState, NodeError, Outcome, START, StateGraph,
};

use super::reference::{PointView, TaskView, View};
use super::{Action, FailingNode};
use crate::stores::TestStore;

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

async fn node(cx: &ContextWith<FailingNode>, text: String) -> Result<StateUpdate, NodeError> {
    if *cx.context() == Some(cx.node()) {
        // Its sibling runs first.
        for _ in 0..3 {
            tokio::task::yield_now().await;
        }
        return Err(NodeError::msg("broken"));
    }
    Ok(State::update().log([text]))
}

async fn ask(state: &State, cx: &ContextWith<FailingNode>) -> Result<StateUpdate, NodeError> {
    let answer = if state.asks { cx.interrupt(Go).await.to_string() } else { String::new() };
    node(cx, format!("ask{answer}")).await
}

async fn work(_: &State, cx: &ContextWith<FailingNode>) -> Result<StateUpdate, NodeError> {
    node(cx, "work".to_owned()).await
}

async fn end(_: &State, cx: &ContextWith<FailingNode>) -> Result<StateUpdate, NodeError> {
    node(cx, "end".to_owned()).await
}

pub(super) struct RealThread {
    store: TestStore,
    graph: Graph<State, FailingNode>,
    name: String,
    copies: usize,
    /// The number of each checkpoint ever made.
    numbers: HashMap<CheckpointId, usize>,
    /// The last answer that was given.
    last_answer: Option<Answer>,
}

impl RealThread {
    pub(super) fn new(store: TestStore) -> Self {
        let graph = StateGraph::<State>::with_context::<FailingNode>().edge(START, (ask, work));
        let graph = graph.join((ask, work), end).edge(end, END).compile().unwrap();
        Self { store, graph, name: "t".to_owned(), copies: 0, numbers: HashMap::new(), last_answer: None }
    }

    fn thread(&self) -> Thread<State, FailingNode> {
        self.graph.with_checkpointer(self.store.open()).thread(self.name.clone())
    }

    /// Returns one of the existing checkpoints, counted from the oldest.
    async fn at(&self, at: usize) -> Option<CheckpointId> {
        let history = self.thread().history().await.unwrap();
        let index = at.checked_rem(history.len())?;
        history.iter().rev().nth(index).map(|snapshot| snapshot.id)
    }

    pub(super) async fn apply(&mut self, action: &Action, label: &str) -> &'static str {
        let thread = self.thread();
        let input = |asks| State::input().asks(asks).log([label.to_owned()]);
        match *action {
            Action::Run { asks, abandon, options } => {
                let run = thread.run(input(asks));
                let run = if abandon { run.abandon_pending() } else { run };
                ended(run.durability(options.durability).context(options.failing).await)
            }
            Action::RunAt { at, asks, options } => {
                let Some(at) = self.at(at).await else { return "nothing" };
                let run = thread.at(at).run(input(asks)).abandon_pending();
                ended(run.durability(options.durability).context(options.failing).await)
            }
            Action::Resume { answer, patch, options } => {
                let open = thread.interrupts().await.unwrap();
                let open = open.interrupts().first().filter(|_| answer.is_some());
                let answer = open.map(|open| open.answer_json(answer.into()));
                if !self.numbers.is_empty() {
                    self.last_answer = answer.clone();
                }
                let run = thread.resume(Vec::from_iter(answer));
                let run = if patch { run.update(State::update().log([label.to_owned()])) } else { run };
                ended(run.durability(options.durability).context(options.failing).await)
            }
            Action::RepeatAnswer => match &self.last_answer {
                Some(answer) => ended(thread.resume(answer.clone()).context(None).await),
                None if self.numbers.is_empty() => "no thread",
                None => "nothing",
            },
            Action::Update { at, node } => {
                let update = State::update().log([label.to_owned()]);
                let node = AsNode::named(node);
                let updated = match at {
                    None => thread.update(update, node).context(None).await,
                    Some(at) => {
                        let Some(at) = self.at(at).await else { return "nothing" };
                        thread.at(at).update(update, node).context(None).await
                    }
                };
                updated.map_or_else(|error| kind(&error), |_| "done")
            }
            Action::RunAgain { at, patch, options } => {
                let Some(at) = self.at(at).await else { return "nothing" };
                let run = thread.at(at).run_again();
                let run = if patch { run.update(State::update().log([label.to_owned()])) } else { run };
                ended(run.durability(options.durability).context(options.failing).await)
            }
            Action::Prune { keep } => {
                let only = Prune::new().thread(thread.name()).keep_last(keep);
                let graph = self.graph.with_checkpointer(self.store.open());
                graph.prune(only).await.map_or_else(|error| kind(&error), |_| "done")
            }
            Action::Copy if self.numbers.is_empty() => "nothing",
            Action::Copy => {
                self.copies += 1;
                let copy = thread.copy(format!("t{}", self.copies)).await.unwrap();
                // The copy does not depend on the deleted thread.
                thread.delete().await.unwrap();
                self.name = copy.name().to_owned();
                "done"
            }
        }
    }

    pub(super) async fn view(&mut self) -> View {
        let thread = self.thread();
        let history = thread.history().await.unwrap();
        for snapshot in history.iter().rev() {
            let number = self.numbers.len();
            self.numbers.entry(snapshot.id).or_insert(number);
        }
        let head = thread.state().await.unwrap();
        let newest = history.first().map(|newest| self.point_view(newest, true));
        assert_eq!(head.map(|head| self.point_view(&head, true)), newest);
        let pause = thread.interrupts().await.unwrap();
        View {
            points: history
                .iter()
                .enumerate()
                .map(|(at, snapshot)| self.point_view(snapshot, at == 0))
                .collect(),
            open_interrupts: pause.interrupts().iter().map(|open| open.node.clone()).collect(),
        }
    }

    fn point_view(&self, snapshot: &Snapshot<State>, is_head: bool) -> PointView {
        let task = |task: &superstep::thread::TaskSnapshot<State>| TaskView {
            node: task.node.to_string(),
            finished: is_head && task.result.is_some(),
            failed: task.error.is_some(),
            asks: !task.interrupts.is_empty(),
        };
        PointView {
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
        ErrorKind::NothingToRun { .. } => "nothing to run",
        other => panic!("{other:?}"),
    }
}
