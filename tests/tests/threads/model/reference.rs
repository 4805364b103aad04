//! A thread as a list of points: each a state, and what is planned behind it.

use super::{Broken, Deed};

/// What a thread is said to be, by the model and by the thread.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shown {
    /// Newest first.
    pub(super) points: Vec<ShownPoint>,
    /// The nodes with an open question at the head.
    pub(super) pending: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct ShownPoint {
    /// Counted over all points that ever were.
    pub(super) number: usize,
    pub(super) parent: Option<usize>,
    pub(super) source: &'static str,
    pub(super) step: i64,
    pub(super) state: Option<Vec<String>>,
    pub(super) tasks: Vec<ShownTask>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct ShownTask {
    pub(super) node: String,
    /// Of the head's: the result that completes a superstep is in the checkpoint behind it, and nowhere else.
    pub(super) finished: bool,
    pub(super) failed: bool,
    pub(super) asks: bool,
}

#[derive(Clone, Debug, Default)]
struct State {
    log: Vec<String>,
    asks: bool,
}

#[derive(Clone, Debug)]
struct Task {
    node: &'static str,
    /// What it has written.
    result: Option<String>,
    failed: bool,
    open: bool,
    answer: Option<bool>,
}

#[derive(Clone, Debug)]
struct Point {
    number: usize,
    parent: Option<usize>,
    source: &'static str,
    step: i64,
    /// Nothing where the first input waits.
    state: Option<State>,
    tasks: Vec<Task>,
    /// The input that waits to be applied: its word, and whether its run asks.
    input: Option<(String, bool)>,
    /// Which of `ask` and `work` the join before `end` has seen.
    joined: [bool; 2],
}

#[derive(Debug, Default)]
pub(super) struct Model {
    /// Those that have not been pruned, oldest first.
    points: Vec<Point>,
    made: usize,
    clicked: bool,
}

fn tasks(nodes: &[&'static str]) -> Vec<Task> {
    nodes.iter().map(|&node| Task { node, result: None, failed: false, open: false, answer: None }).collect()
}

impl Model {
    /// How a deed ends: `done`, `asks`, or the kind of its error.
    pub(super) fn does(&mut self, deed: &Deed, word: &str) -> &'static str {
        let (there, made) = (self.points.len(), self.made);
        let ended = self.does_all(deed, word);
        if deed.stores_its_end_alone() {
            self.forget_the_way(there, made);
        }
        ended
    }

    /// Of the points that a run has added, leaves the last one, as if it had followed what the first one follows.
    fn forget_the_way(&mut self, there: usize, made: usize) {
        let mut added = self.points.split_off(there).into_iter();
        if let Some(first) = added.next() {
            let last = added.next_back().unwrap_or_else(|| first.clone());
            self.made = made;
            self.add(Point { parent: first.parent, ..last });
        }
    }

    fn does_all(&mut self, deed: &Deed, word: &str) -> &'static str {
        match *deed {
            Deed::Run { asks, abandon, how } => {
                let pending =
                    self.points.last().is_some_and(|head| !head.tasks.is_empty() || head.input.is_some());
                if pending && !abandon {
                    return "pending";
                }
                self.input(self.points.last().cloned(), word, asks);
                self.go(how.broken)
            }
            Deed::RunAt { at, asks, how } => {
                let Some(from) = self.at(at) else { return "nothing" };
                self.input(Some(from), word, asks);
                self.go(how.broken)
            }
            Deed::Resume { answer, patch, how } => {
                let Some(head) = self.points.last_mut() else { return "no thread" };
                self.clicked = false;
                if patch && head.is_at_rest() {
                    return "at rest";
                }
                if let Some(answer) = answer {
                    for task in head.tasks.iter_mut().filter(|task| task.open) {
                        (task.open, task.answer) = (false, Some(answer));
                        self.clicked = true;
                    }
                }
                if patch {
                    self.patch(word);
                }
                self.go(how.broken)
            }
            // Answered once, a question is not open again: what is asked again has another id.
            Deed::ClickAgain => match self.points.is_empty() {
                true => "no thread",
                false => {
                    if self.clicked {
                        "not open"
                    } else {
                        "nothing"
                    }
                }
            },
            Deed::Update { at: None, place } => self.update(self.points.last().cloned(), place, word, true),
            Deed::Update { at: Some(at), place } => match self.at(at) {
                None => "nothing",
                Some(from) => {
                    let is_head = Some(from.number) == self.points.last().map(|head| head.number);
                    self.update(Some(from), place, word, is_head)
                }
            },
            Deed::RunAgain { at, patch, how } => {
                let Some(from) = self.at(at) else { return "nothing" };
                if from.is_at_rest() {
                    return if patch { "at rest" } else { "done" };
                }
                let nodes: Vec<_> = from.tasks.iter().map(|task| task.node).collect();
                let (parent, step) = (Some(from.number), from.step + 1);
                self.add(Point { source: "fork", parent, step, tasks: tasks(&nodes), ..from });
                if patch {
                    self.patch(word);
                }
                self.go(how.broken)
            }
            Deed::Prune { keep } => {
                let newest = self.points.len().saturating_sub(keep);
                let all = self.points.clone();
                let is_leaf = |point: &Point| all.iter().all(|other| other.parent != Some(point.number));
                let asks = |point: &Point| point.tasks.iter().any(|task| task.open);
                let mut index = 0;
                self.points.retain(|point| {
                    index += 1;
                    index > newest || (is_leaf(point) && asks(point))
                });
                "done"
            }
            Deed::Copy => {
                if self.points.is_empty() {
                    "nothing"
                } else {
                    "done"
                }
            }
        }
    }

    /// One of the points that are there.
    fn at(&self, at: usize) -> Option<Point> {
        self.points.get(at.checked_rem(self.points.len())?).cloned()
    }

    fn add(&mut self, point: Point) {
        self.points.push(Point { number: self.made, ..point });
        self.made += 1;
    }

    fn input(&mut self, from: Option<Point>, word: &str, asks: bool) {
        let step = from.as_ref().map_or(-1, |from| from.step + 1);
        let parent = from.as_ref().map(|from| from.number);
        let state = from.and_then(|from| from.state);
        let (input, tasks) = (Some((word.to_owned(), asks)), Vec::new());
        self.add(Point { number: 0, parent, source: "input", step, state, tasks, input, joined: [false; 2] });
    }

    /// Writes to the state of the head, behind the input if one waits there.
    fn patch(&mut self, word: &str) {
        if let Some(next) = self.points.last().and_then(Point::with_input) {
            self.add(next);
        }
        if let Some(state) = self.points.last_mut().and_then(|head| head.state.as_mut()) {
            state.log.push(word.to_owned());
        }
    }

    /// Goes on from the head until nothing is planned, or nothing can be done.
    fn go(&mut self, broken: Broken) -> &'static str {
        loop {
            let Some(head) = self.points.last_mut() else { return "no thread" };
            let next = if let Some(next) = head.with_input() {
                next
            } else if head.tasks.is_empty() {
                return if head.is_at_rest() { "done" } else { "join" };
            } else {
                head.runs(broken);
                if head.tasks.iter().any(|task| task.result.is_none() && !task.open) {
                    return "failed";
                }
                if head.tasks.iter().any(|task| task.open) {
                    return "asks";
                }
                head.applied(None).behind(head)
            };
            self.add(next);
        }
    }

    fn update(
        &mut self,
        from: Option<Point>,
        place: &'static str,
        word: &str,
        is_head: bool,
    ) -> &'static str {
        let made = match from {
            None => Point {
                number: 0,
                parent: None,
                source: "update",
                step: 0,
                state: Some(State::default()),
                tasks: Vec::new(),
                input: None,
                joined: [false; 2],
            },
            Some(mut from) => {
                if !is_head {
                    from.tasks.iter_mut().for_each(|task| task.result = None);
                }
                let (parent, step) = (Some(from.number), from.step + 1);
                Point { parent, step, source: "update", input: None, ..from }
            }
        };
        let next = made.applied(Some((place, word)));
        self.add(next);
        "done"
    }

    pub(super) fn shows(&self) -> Shown {
        let head = self.points.last().map(|head| head.number);
        let shown = |point: &Point| point.shown(Some(point.number) == head);
        let points = self.points.iter().rev().map(shown).collect();
        let open = self.points.last().into_iter().flat_map(|head| &head.tasks).filter(|task| task.open);
        Shown { points, pending: open.map(|task| task.node.to_owned()).collect() }
    }
}

impl Point {
    fn is_at_rest(&self) -> bool {
        self.tasks.is_empty() && self.input.is_none() && self.joined == [false; 2]
    }

    /// The point behind the input that waits.
    fn with_input(&self) -> Option<Point> {
        let (word, asks) = self.input.clone()?;
        let mut state = self.state.clone().unwrap_or_default();
        state.log.push(word);
        state.asks = asks;
        let next = Point { state: Some(state), tasks: tasks(&["ask", "work"]), ..self.clone() };
        Some(Point { joined: [false; 2], ..next }.behind(self))
    }

    fn behind(self, before: &Point) -> Point {
        let (parent, step) = (Some(before.number), before.step + 1);
        Point { source: "loop", parent, step, input: None, ..self }
    }

    /// Runs what has not finished.
    fn runs(&mut self, broken: Broken) {
        let asks = self.state.as_ref().is_some_and(|state| state.asks);
        for task in self.tasks.iter_mut().filter(|task| task.result.is_none()) {
            task.open = task.node == "ask" && asks && task.answer.is_none();
            if task.open {
                continue;
            }
            if broken == Some(task.node) {
                task.failed = true;
            } else {
                let answer = task.answer.map(|answer| answer.to_string()).unwrap_or_default();
                task.result = Some(format!("{}{answer}", task.node));
            }
        }
    }

    /// The point behind a superstep of what has finished, and of an update.
    fn applied(&self, update: Option<(&'static str, &str)>) -> Point {
        let mut next = Point { tasks: Vec::new(), ..self.clone() };
        let mut state = next.state.take().unwrap_or_default();
        let finished = self.tasks.iter().filter_map(|task| Some((task.node, task.result.clone()?)));
        let mut nodes = Vec::new();
        for (node, word) in finished.chain(update.map(|(place, word)| (place, word.to_owned()))) {
            state.log.push(word);
            match node {
                "ask" => next.joined[0] = true,
                "work" => next.joined[1] = true,
                "START" => nodes.extend(["ask", "work"]),
                _ => {}
            }
        }
        if next.joined == [true; 2] {
            next.joined = [false; 2];
            nodes.push("end");
        }
        if matches!(update, Some(("END", _))) {
            next.joined = [false; 2];
            nodes.clear();
        }
        Point { state: Some(state), tasks: tasks(&nodes), ..next }
    }

    fn shown(&self, is_head: bool) -> ShownPoint {
        let shown = |task: &Task| ShownTask {
            node: task.node.to_owned(),
            finished: is_head && task.result.is_some(),
            failed: task.failed,
            asks: task.open,
        };
        let mut tasks: Vec<ShownTask> = self.tasks.iter().map(shown).collect();
        if self.input.is_some() {
            let node = "START".to_owned();
            tasks.push(ShownTask { node, finished: false, failed: false, asks: false });
        }
        let state = self.state.as_ref().map(|state| state.log.clone());
        let Point { number, parent, source, step, .. } = *self;
        ShownPoint { number, parent, source, step, state, tasks }
    }
}
