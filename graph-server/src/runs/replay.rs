//! The events of runs that an earlier process has executed. They follow from the checkpoints that it has stored.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use superstep::checkpoint::CheckpointId;

use super::LiveRun;
use super::accept::{find_graph, stream_again};
use crate::api_error::ApiResult;
use crate::app::App;
use crate::events::{EventId, LoggedEvent, Position, Resume};
use crate::graphs::{
    AnyGraph, HistoryQuery, RunFailure, ServedEvent, ServedKind, StateView, Stopped, StoredAt,
};
use crate::protocol::{RunId, RunRequest, RunStatus, read_body};
use crate::records::RunRecord;
use crate::stream::Converter;

/// Events that are sent before those of a log.
#[derive(Debug, Default)]
pub(crate) struct Replay {
    pub(crate) events: Vec<(EventId, Arc<LoggedEvent>)>,
    /// `true` if there are more than can be made again.
    pub(crate) missed: bool,
}

/// The maximum number of checkpoints whose events are made again.
const MAX_CHECKPOINTS: usize = 1_000;

/// The number of checkpoints that are read first.
const FIRST_PAGE: usize = 16;

/// Returns the events of a run that a client has missed and that the log of this process does not have.
///
/// # Errors
/// The store fails.
pub(crate) async fn replay_live(app: &App, live: &LiveRun, from: Resume) -> ApiResult<Replay> {
    let (Some(thread), Some(until)) = (live.thread_id, live.restored_at.get()) else {
        return Ok(Replay::default());
    };
    // Who has seen events of this execution knows all of the earlier ones.
    let knows = matches!(from, Resume::After(id) if id.epoch >= live.log.epoch());
    if knows || from == Resume::Now || !live.log.keeps_all() {
        return Ok(Replay::default());
    }
    match app.records.run(thread, live.run_id).await? {
        Some(record) => replay(app, &record, from, Some(*until)).await,
        None => Ok(Replay::default()),
    }
}

/// Returns the events of a run that has ended and whose log is gone.
///
/// # Errors
/// The store fails.
pub(crate) async fn replay_ended(app: &App, record: &RunRecord, from: Resume) -> ApiResult<Replay> {
    if from == Resume::Now || record.run.status.is_open() {
        return Ok(Replay::default());
    }
    replay(app, record, from, None).await
}

async fn replay(
    app: &App,
    record: &RunRecord,
    from: Resume,
    until: Option<CheckpointId>,
) -> ApiResult<Replay> {
    let request = read_body::<RunRequest>(Value::Object(record.run.kwargs.clone()));
    let Some(request) = request.ok().filter(|request| request.stream_resumable) else {
        return Ok(Replay::default());
    };
    let graph = find_graph(app, &record.graph_id)?;
    let thread = record.run.thread_id.to_string();
    let seen = match from {
        Resume::After(id) => Some(id),
        Resume::All | Resume::Now => None,
    };
    let position = seen.and_then(|id| id.position);
    let first = position.map(|position| position.checkpoint);
    let mut views = checkpoints(&*graph, &thread, record.run.run_id, first).await?;
    let missed = views.len() == MAX_CHECKPOINTS && views.first().map(|view| view.id) > first;
    views.retain(|view| {
        until.is_none_or(|until| view.id <= until)
            && position.is_none_or(|position| view.id >= position.checkpoint)
    });
    let converter = Converter::new(stream_again(&request, record));
    // Epoch 0 was never executed: a client that comes back with such an id has not seen the events of any log.
    let first = seen.unwrap_or(EventId { epoch: 0, n: 0, position: None });
    let mut events = Remade { converter, position, last: first, events: Vec::new() };
    if seen.is_none_or(|id| id.n == 0) {
        events.append(events.converter.metadata(1));
    }
    for view in &views {
        events.push_state(view, position);
        // The input has no tasks for clients.
        if until != Some(view.id) && view.values.is_some() {
            events.push_tasks(view, position.filter(|position| position.checkpoint == view.id));
        }
    }
    if until.is_none()
        && let Some(last) = views.pop()
    {
        let position = position.filter(|position| position.checkpoint == last.id);
        events.push_end(app, record, last, position.map_or(0, Position::end_events)).await?;
    }
    Ok(Replay { events: events.events, missed })
}

/// Returns the checkpoints of a run from its newest back to one of them, or all, oldest first. At most [`MAX_CHECKPOINTS`].
async fn checkpoints(
    graph: &dyn AnyGraph,
    thread: &str,
    run: RunId,
    first: Option<CheckpointId>,
) -> ApiResult<Vec<StateView>> {
    let metadata: Map<String, Value> = [("run_id".to_owned(), json!(run))].into_iter().collect();
    let mut views: Vec<StateView> = Vec::new();
    // Pages double in size: who has seen most of the events causes few reads, and a run has few pages.
    let mut size = FIRST_PAGE;
    loop {
        let limit = size.min(MAX_CHECKPOINTS - views.len());
        let before = views.last().map(|view| view.id);
        let page = graph.history(thread, HistoryQuery { limit, before, metadata: metadata.clone() }).await?;
        let at_end = page.len() < limit;
        views.extend(page);
        let is_found = first.is_some() && views.last().map(|view| view.id) <= first;
        if at_end || is_found || views.len() >= MAX_CHECKPOINTS {
            views.reverse();
            return Ok(views);
        }
        size *= 2;
    }
}

/// Events that are made again.
struct Remade {
    converter: Converter,
    position: Option<Position>,
    last: EventId,
    events: Vec<(EventId, Arc<LoggedEvent>)>,
}

impl Remade {
    fn append(&mut self, mut event: LoggedEvent) {
        event.position = self.position;
        self.last = EventId { n: self.last.n.saturating_add(1), position: self.position, ..self.last };
        self.events.push((self.last, Arc::new(event)));
    }

    /// Converts an event. What the client has seen is not sent, but later events may depend on it.
    fn convert(&mut self, event: &ServedEvent, seen: bool) {
        let mut converted = Vec::new();
        self.converter.convert(event, &mut converted);
        if !seen {
            converted.into_iter().for_each(|event| self.append(event));
        }
    }

    fn push_state(&mut self, view: &StateView, seen: Option<Position>) {
        let seen = seen.is_some_and(|position| position.checkpoint == view.id);
        if !seen {
            let stored = StoredAt {
                id: view.id,
                parent: view.parent,
                source: view.source.name().to_owned(),
                step: view.step,
                next: view.tasks.iter().map(|task| task.node.clone()).collect(),
            };
            self.convert(&event(view, ServedKind::Checkpoint(stored)), false);
        }
        if let Some(values) = &view.values {
            if !seen {
                self.position = Some(Position { checkpoint: view.id, tasks: 0 });
            }
            self.convert(&event(view, ServedKind::Values(values.clone())), seen);
        }
    }

    fn push_tasks(&mut self, view: &StateView, seen: Option<Position>) {
        let finished = view.tasks.iter().filter_map(|task| Some((task, task.result.as_ref()?)));
        for (number, (task, result)) in (0..).zip(finished) {
            let seen = seen.is_some_and(|position| number < position.tasks);
            let of_task = |kind| ServedEvent {
                task_id: Some(task.id.clone()),
                node: task.node.clone(),
                superstep: u64::try_from(view.step).unwrap_or_default() + 1,
                ..event(view, kind)
            };
            self.convert(&of_task(ServedKind::TaskStarted), seen);
            if let (false, Some(position)) = (seen, &mut self.position) {
                position.tasks += 1;
            }
            let update = ServedKind::Update { writes: result.clone(), restored: false };
            self.convert(&of_task(update), seen);
        }
    }

    /// Appends the events with which a run says why it has stopped, except for the first ones, which the client has seen.
    async fn push_end(
        &mut self,
        app: &App,
        record: &RunRecord,
        last: StateView,
        seen: usize,
    ) -> ApiResult<()> {
        let mut converted = Vec::new();
        if record.run.status == RunStatus::Error
            && let Some(error) = app.records.error_of(record).await?
        {
            let failure = RunFailure::new(&error.error, &error.message);
            converted.push(self.converter.failure(&failure));
        }
        let interrupts: Vec<_> = last.interrupts().cloned().collect();
        if !interrupts.is_empty()
            && let Some(values) = &last.values
        {
            let stopped = Stopped { interrupts, drained: false };
            let kind = ServedKind::Interrupted { values: values.clone(), stopped };
            self.converter.convert(&event(&last, kind), &mut converted);
        }
        for (number, event) in (1..).zip(converted).skip(seen) {
            if let Some(position) = &mut self.position {
                position.tasks = Position::STOPPED.saturating_add(number);
            }
            self.append(event);
        }
        Ok(())
    }
}

fn event(view: &StateView, kind: ServedKind) -> ServedEvent {
    ServedEvent {
        namespace: Vec::new(),
        superstep: u64::try_from(view.step).unwrap_or_default(),
        checkpoint: Some(view.id),
        task_id: None,
        node: String::new(),
        kind,
    }
}
