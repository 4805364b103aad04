//! The model: a thread is a list of points, each with a state and planned tasks.

use super::{Action, FailingNode};

/// The visible parts of a thread, as the model and the thread show them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct View {
    /// The points, newest first.
    pub(super) points: Vec<PointView>,
    /// The nodes with an open interrupt at the head.
    pub(super) open_interrupts: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct PointView {
    /// The number of the point, counted over all points ever made.
    pub(super) number: usize,
    pub(super) parent: Option<usize>,
    pub(super) source: &'static str,
    pub(super) step: i64,
    pub(super) state: Option<Vec<String>>,
    pub(super) tasks: Vec<TaskView>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct TaskView {
    pub(super) node: String,
    /// Only at the head: the last result of a superstep is stored in the next checkpoint.
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
    /// The string that the task appends to the log.
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
    /// `None` before the first input is applied.
    state: Option<State>,
    tasks: Vec<Task>,
    /// The input that is not yet applied: its label, and `true` if its run asks.
    input: Option<(String, bool)>,
    /// `true` for `ask` and `work` if the join before `end` has seen them.
    joined: [bool; 2],
}

#[derive(Debug, Default)]
pub(super) struct Model {
    /// The points that were not pruned, oldest first.
    points: Vec<Point>,
    made: usize,
    answered: bool,
}

fn tasks(nodes: &[&'static str]) -> Vec<Task> {
    nodes.iter().map(|&node| Task { node, result: None, failed: false, open: false, answer: None }).collect()
}

impl Model {
    /// Applies an action. Returns `done`, `asks`, or the kind of its error.
    pub(super) fn apply(&mut self, action: &Action, label: &str) -> &'static str {
        let (existing, made) = (self.points.len(), self.made);
        let ended = self.apply_storing_each(action, label);
        if action.stores_only_its_end() {
            self.drop_intermediate_points(existing, made);
        }
        ended
    }

    /// Keeps only the last point that a run has added, as the successor of the first one's parent.
    fn drop_intermediate_points(&mut self, existing: usize, made: usize) {
        let mut added = self.points.split_off(existing).into_iter();
        if let Some(first) = added.next() {
            let last = added.next_back().unwrap_or_else(|| first.clone());
            self.made = made;
            self.add(Point { parent: first.parent, ..last });
        }
    }

    fn apply_storing_each(&mut self, action: &Action, label: &str) -> &'static str {
        match *action {
            Action::Run { asks, abandon, options } => {
                let pending =
                    self.points.last().is_some_and(|head| !head.tasks.is_empty() || head.input.is_some());
                if pending && !abandon {
                    return "pending";
                }
                self.input(self.points.last().cloned(), label, asks);
                self.run(options.failing)
            }
            Action::RunAt { at, asks, options } => {
                let Some(from) = self.at(at) else { return "nothing" };
                self.input(Some(from), label, asks);
                self.run(options.failing)
            }
            Action::Resume { answer, patch, options } => {
                let Some(head) = self.points.last_mut() else { return "no thread" };
                self.answered = false;
                if patch && head.is_finished() {
                    return "nothing to run";
                }
                if let Some(answer) = answer {
                    for task in head.tasks.iter_mut().filter(|task| task.open) {
                        (task.open, task.answer) = (false, Some(answer));
                        self.answered = true;
                    }
                }
                if patch {
                    self.patch(label);
                }
                self.run(options.failing)
            }
            // An answered interrupt is not open again: a repeated question has another id.
            Action::RepeatAnswer => match self.points.is_empty() {
                true => "no thread",
                false => {
                    if self.answered {
                        "not open"
                    } else {
                        "nothing"
                    }
                }
            },
            Action::Update { at: None, node } => self.update(self.points.last().cloned(), node, label, true),
            Action::Update { at: Some(at), node } => match self.at(at) {
                None => "nothing",
                Some(from) => {
                    let is_head = Some(from.number) == self.points.last().map(|head| head.number);
                    self.update(Some(from), node, label, is_head)
                }
            },
            Action::RunAgain { at, patch, options } => {
                let Some(from) = self.at(at) else { return "nothing" };
                if from.is_finished() {
                    return if patch { "nothing to run" } else { "done" };
                }
                let nodes: Vec<_> = from.tasks.iter().map(|task| task.node).collect();
                let (parent, step) = (Some(from.number), from.step + 1);
                self.add(Point { source: "fork", parent, step, tasks: tasks(&nodes), ..from });
                if patch {
                    self.patch(label);
                }
                self.run(options.failing)
            }
            Action::Prune { keep } => {
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
            Action::Copy => {
                if self.points.is_empty() {
                    "nothing"
                } else {
                    "done"
                }
            }
        }
    }

    /// Returns one of the existing points.
    fn at(&self, at: usize) -> Option<Point> {
        self.points.get(at.checked_rem(self.points.len())?).cloned()
    }

    fn add(&mut self, point: Point) {
        self.points.push(Point { number: self.made, ..point });
        self.made += 1;
    }

    fn input(&mut self, from: Option<Point>, label: &str, asks: bool) {
        let step = from.as_ref().map_or(-1, |from| from.step + 1);
        let parent = from.as_ref().map(|from| from.number);
        let state = from.and_then(|from| from.state);
        let (input, tasks) = (Some((label.to_owned(), asks)), Vec::new());
        self.add(Point { number: 0, parent, source: "input", step, state, tasks, input, joined: [false; 2] });
    }

    /// Updates the state of the head, after its input if one is not yet applied.
    fn patch(&mut self, label: &str) {
        if let Some(next) = self.points.last().and_then(Point::input_applied) {
            self.add(next);
        }
        if let Some(state) = self.points.last_mut().and_then(|head| head.state.as_mut()) {
            state.log.push(label.to_owned());
        }
    }

    /// Runs from the head until nothing is planned or the run stops.
    fn run(&mut self, failing: FailingNode) -> &'static str {
        loop {
            let Some(head) = self.points.last_mut() else { return "no thread" };
            let next = if let Some(next) = head.input_applied() {
                next
            } else if head.tasks.is_empty() {
                return if head.is_finished() { "done" } else { "join" };
            } else {
                head.run_tasks(failing);
                if head.tasks.iter().any(|task| task.result.is_none() && !task.open) {
                    return "failed";
                }
                if head.tasks.iter().any(|task| task.open) {
                    return "asks";
                }
                head.applied(None).after(head)
            };
            self.add(next);
        }
    }

    fn update(
        &mut self,
        from: Option<Point>,
        node: &'static str,
        label: &str,
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
        let next = made.applied(Some((node, label)));
        self.add(next);
        "done"
    }

    pub(super) fn view(&self) -> View {
        let head = self.points.last().map(|head| head.number);
        let view = |point: &Point| point.view(Some(point.number) == head);
        let points = self.points.iter().rev().map(view).collect();
        let open = self.points.last().into_iter().flat_map(|head| &head.tasks).filter(|task| task.open);
        View { points, open_interrupts: open.map(|task| task.node.to_owned()).collect() }
    }
}

impl Point {
    fn is_finished(&self) -> bool {
        self.tasks.is_empty() && self.input.is_none() && self.joined == [false; 2]
    }

    /// Returns the point after the input that is not yet applied.
    fn input_applied(&self) -> Option<Point> {
        let (label, asks) = self.input.clone()?;
        let mut state = self.state.clone().unwrap_or_default();
        state.log.push(label);
        state.asks = asks;
        let next = Point { state: Some(state), tasks: tasks(&["ask", "work"]), ..self.clone() };
        Some(Point { joined: [false; 2], ..next }.after(self))
    }

    fn after(self, before: &Point) -> Point {
        let (parent, step) = (Some(before.number), before.step + 1);
        Point { source: "loop", parent, step, input: None, ..self }
    }

    /// Runs the unfinished tasks.
    fn run_tasks(&mut self, failing: FailingNode) {
        let asks = self.state.as_ref().is_some_and(|state| state.asks);
        for task in self.tasks.iter_mut().filter(|task| task.result.is_none()) {
            task.open = task.node == "ask" && asks && task.answer.is_none();
            if task.open {
                continue;
            }
            if failing == Some(task.node) {
                task.failed = true;
            } else {
                let answer = task.answer.map(|answer| answer.to_string()).unwrap_or_default();
                task.result = Some(format!("{}{answer}", task.node));
            }
        }
    }

    /// Returns the point after a superstep with the finished tasks and an update.
    fn applied(&self, update: Option<(&'static str, &str)>) -> Point {
        let mut next = Point { tasks: Vec::new(), ..self.clone() };
        let mut state = next.state.take().unwrap_or_default();
        let finished = self.tasks.iter().filter_map(|task| Some((task.node, task.result.clone()?)));
        let mut nodes = Vec::new();
        for (node, label) in finished.chain(update.map(|(node, label)| (node, label.to_owned()))) {
            state.log.push(label);
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

    fn view(&self, is_head: bool) -> PointView {
        let view = |task: &Task| TaskView {
            node: task.node.to_owned(),
            finished: is_head && task.result.is_some(),
            failed: task.failed,
            asks: task.open,
        };
        let mut tasks: Vec<TaskView> = self.tasks.iter().map(view).collect();
        if self.input.is_some() {
            let node = "START".to_owned();
            tasks.push(TaskView { node, finished: false, failed: false, asks: false });
        }
        let state = self.state.as_ref().map(|state| state.log.clone());
        let Point { number, parent, source, step, .. } = *self;
        PointView { number, parent, source, step, state, tasks }
    }
}
