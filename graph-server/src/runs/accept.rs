use std::sync::Arc;
use std::time::Duration;

use super::LiveRun;
use super::dispatch::{fill, give_up};
use super::execute::execute;
use super::job::Job;
use super::request::{RunParts, kwargs, merge};
use super::shown::shown;
use super::thread_queue::Refused;
use crate::api_error::{ApiError, ApiResult};
use crate::app::App;
use crate::events::{LogReader, Resume};
use crate::graphs::{AnyGraph, PreparedRun};
use crate::log::{self, RunIds};
use crate::protocol::{
    AssistantId, DurabilityName, IfNotExists, Object, OnCompletion, Run, RunId, RunRequest, RunStatus,
    ThreadId, ThreadStatus, Timestamp,
};
use crate::records::{AssistantRecord, CronRecord, RunRecord, ThreadRecord};
use crate::stream::{Converter, RunEvents, StreamSpec};

/// A request for a run.
pub(crate) struct NewRun {
    pub(crate) thread: RunThread,
    pub(crate) request: RunRequest,
    /// The request as it was sent.
    pub(crate) body: Object,
    /// `true` if clients cannot come back to the run. It is not stored then.
    pub(crate) transient: bool,
    /// `true` if the client reads the events.
    pub(crate) streams: bool,
    /// The cron that starts the run, before and after it. It changes in the same write.
    pub(crate) cron: Option<(CronRecord, CronRecord)>,
}

/// The thread of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RunThread {
    /// This thread.
    Given(ThreadId),
    /// A thread of its own.
    New,
}

/// A run that was accepted.
#[derive(Debug)]
pub(crate) struct Accepted {
    pub(crate) live: Arc<LiveRun>,
    /// A reader of all events of the run.
    pub(crate) reader: LogReader,
    /// The record of the run. `None` if it is not stored.
    pub(crate) record: Option<Run>,
}

/// Checks a run as [`accept`] does, and changes nothing.
///
/// # Errors
/// The reason why the run would be refused, except for the other runs of its thread.
pub(crate) async fn check(app: &App, thread: RunThread, mut request: RunRequest) -> ApiResult<()> {
    let assistant = find_assistant(app, &request.assistant).await?;
    let graph = find_graph(app, &assistant.graph_id)?;
    crate::webhooks::check(&app.options, request.webhook.as_deref())?;
    merge(&mut request, &assistant);
    let (assistant_id, graph_id) = (assistant.assistant_id, assistant.graph_id.as_str());
    let thread_id = match thread {
        RunThread::Given(id) => {
            require_thread(app, id, graph_id, request.if_not_exists == IfNotExists::Create).await?;
            Some(id)
        }
        RunThread::New => None,
    };
    let (run_id, user_id) = (RunId::new(), app.user_id());
    let parts = RunParts { request: &request, run_id, thread_id, assistant_id, graph_id, user_id };
    graph.prepare(parts.spec()?).map(drop)
}

/// Accepts a run: checks it, stores it, and has it executed.
///
/// # Errors
/// The reason why the run is refused. Nothing has changed then.
pub(crate) async fn accept(app: &Arc<App>, new: NewRun) -> ApiResult<Accepted> {
    let NewRun { thread, mut request, body, transient, streams, cron } = new;
    let assistant = find_assistant(app, &request.assistant).await?;
    let graph = find_graph(app, &assistant.graph_id)?;
    crate::webhooks::check(&app.options, request.webhook.as_deref())?;
    merge(&mut request, &assistant);
    if !streams && !body.contains_key("stream_mode") && !request.stream_resumable {
        // The client has not asked for events.
        request.stream_mode.clear();
    }
    let delay = request.after_seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let delay = delay.filter(|delay| !delay.is_zero());
    let own = matches!(thread, RunThread::New) && request.on_completion == OnCompletion::Delete;
    let in_memory = transient && own && delay.is_none() && request.webhook.is_none();
    let thread_id = match thread {
        RunThread::Given(id) => Some(id),
        RunThread::New => (!in_memory).then(ThreadId::new),
    };
    let run_id = RunId::new();
    let (assistant_id, graph_id) = (assistant.assistant_id, assistant.graph_id.as_str());
    let user_id = app.user_id();
    let parts = RunParts { request: &request, run_id, thread_id, assistant_id, graph_id, user_id };
    let prepared = graph.prepare(parts.spec()?)?;
    let stream = parts.stream();
    let metadata = parts.metadata();
    let events_log = app.runs.new_log(1, request.stream_resumable);
    let ids = RunIds { run: run_id, thread: thread_id, graph: graph_id.to_owned() };
    let live = LiveRun::new(ids, app.user_id(), Arc::clone(&events_log), app.runs.stop.child());
    let events = send_thread_events(app, &live, &request, &stream, 1);
    let reader = events_log.read(Resume::All);
    let converter = Converter::new(stream);
    events_log.push(converter.metadata(1));
    let job = Job {
        live: Arc::clone(&live),
        graph,
        prepared,
        converter,
        events,
        way: None,
        again: false,
        temporary: own,
        webhook: request.webhook.clone(),
    };
    let Some(thread_id) = thread_id else {
        let way = job.prepared.decide(None).await?;
        app.runs.add(&live);
        log::run_accepted(&live.ids);
        let (own, job) = (Arc::clone(app.as_server()), Box::new(Job { way: Some(way), ..job }));
        app.runs.spawn(async move { execute(&own, job).await });
        return Ok(Accepted { live, reader, record: None });
    };
    let creates = matches!(thread, RunThread::New) || request.if_not_exists == IfNotExists::Create;
    let exists = require_thread(app, thread_id, graph_id, creates).await?;
    let first = reserve(app, thread_id, &live, &request, delay.is_some())?;
    let place = Place { app, thread: thread_id, live: &live, kept: false };
    let way = if first { Some(job.prepared.decide(Some(&thread_id.to_string())).await?) } else { None };
    let now = Timestamp::now();
    let record = RunRecord {
        run: Run {
            run_id,
            thread_id,
            assistant_id,
            created_at: now,
            updated_at: now,
            status: if first { RunStatus::Running } else { RunStatus::Pending },
            metadata,
            multitask_strategy: request.multitask_strategy,
            kwargs: kwargs(body, &request),
            cancel_reason: None,
        },
        graph_id: graph_id.to_owned(),
        due_at: delay.map(|delay| now.after(delay)),
        owner: None,
        epoch: 1,
        cancel: None,
        user_id: app.user_id(),
        temporary: own,
        has_ended: false,
        error: None,
        way: way.clone(),
    };
    let stored = app
        .records
        .create_run(&record, cron.as_ref(), !exists, |thread| mark(thread, &record, &request))
        .await?;
    if stored.is_none() {
        return Err(no_thread(thread_id));
    }
    log::run_accepted(&live.ids);
    place.keep(Box::new(Job { way, ..job }), delay);
    Ok(Accepted { live, reader, record: Some(shown(app, &record)) })
}

/// A place in the queue of a thread. It is given up if the run is not stored.
struct Place<'a> {
    app: &'a Arc<App>,
    thread: ThreadId,
    live: &'a Arc<LiveRun>,
    kept: bool,
}

impl Place<'_> {
    fn keep(mut self, job: Box<Job>, delay: Option<Duration>) {
        self.kept = true;
        self.app.runs.add(self.live);
        fill(self.app, self.thread, job, delay);
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if !self.kept {
            give_up(self.app, self.thread, self.live.run_id);
            self.live.refuse();
        }
    }
}

fn reserve(
    app: &App,
    thread: ThreadId,
    live: &Arc<LiveRun>,
    request: &RunRequest,
    delayed: bool,
) -> ApiResult<bool> {
    app.runs.reserve(thread, live, request.multitask_strategy, delayed).map_err(|refused| {
        ApiError::conflict(match refused {
            Refused::Busy => format!("thread `{thread}` is busy with another run: wait for it, or choose another `multitask_strategy`"),
            Refused::Full => format!("too many runs wait on thread `{thread}`"),
        })
    })
}

/// Updates the record of a thread from its newest run.
fn mark(thread: &mut ThreadRecord, run: &RunRecord, request: &RunRequest) {
    // A run whose time has not come lets others pass.
    if run.due_at.is_none() {
        thread.status = ThreadStatus::Busy;
    }
    thread.graph_id = Some(run.graph_id.clone());
    thread.assistant_id = Some(run.run.assistant_id);
    for key in ["graph_id", "assistant_id"] {
        if let Some(value) = run.run.metadata.get(key) {
            thread.metadata.insert(key.to_owned(), value.clone());
        }
    }
    thread.config = request.config.clone();
    thread.context = request.context.clone();
}

/// Finds an assistant by its id, or the default assistant of a graph by the name of the graph.
pub(crate) async fn find_assistant(app: &App, name: &str) -> ApiResult<AssistantRecord> {
    if app.graphs.find(name).is_some() {
        let id = AssistantId::of_graph(name);
        return Ok(app.records.assistant(id).await?.unwrap_or_else(|| AssistantRecord::of_graph(name)));
    }
    let Some(id) = AssistantId::parse(name) else {
        return Err(ApiError::unprocessable(format!("`assistant_id`: the server has no graph `{name}`")));
    };
    if let Some(found) = app.records.assistant(id).await? {
        return Ok(found);
    }
    let default = app.graphs.iter().find(|(graph, _)| AssistantId::of_graph(graph) == id);
    match default {
        Some((graph, _)) => Ok(AssistantRecord::of_graph(graph)),
        None => Err(ApiError::not_found(format!("Assistant `{id}` not found"))),
    }
}

pub(super) fn find_graph(app: &App, id: &str) -> ApiResult<Arc<dyn AnyGraph>> {
    app.graphs.find(id).cloned().ok_or_else(|| ApiError::not_found(format!("Graph `{id}` not found")))
}

/// Checks that a run of a graph may begin on a thread. Returns `false` if the thread has to be created first.
async fn require_thread(app: &App, id: ThreadId, graph: &str, creates: bool) -> ApiResult<bool> {
    let Some(thread) = app.records.thread(id).await? else {
        // A thread of another caller is not one to create.
        let creates = creates && !app.records.is_hidden(id).await?;
        return if creates { Ok(false) } else { Err(no_thread(id)) };
    };
    match thread.graph_id {
        Some(other) if other != graph => Err(ApiError::conflict(format!(
            "thread `{id}` belongs to the graph `{other}`, and the run is one of the graph `{graph}`: use another thread"
        ))),
        _ => Ok(true),
    }
}

pub(crate) fn no_thread(id: ThreadId) -> ApiError {
    ApiError::not_found(format!("Thread with ID {id} not found"))
}

/// Prepares a run that an earlier process has accepted.
pub(super) fn prepare_again(
    graph: &Arc<dyn AnyGraph>,
    request: &RunRequest,
    record: &RunRecord,
) -> ApiResult<(Box<dyn PreparedRun>, StreamSpec)> {
    let Run { run_id, thread_id, assistant_id, .. } = record.run;
    let thread_id = Some(thread_id);
    let (graph_id, user_id) = (&*record.graph_id, record.user_id.clone());
    let parts = RunParts { request, run_id, thread_id, assistant_id, graph_id, user_id };
    Ok((graph.prepare(parts.spec()?)?, parts.stream()))
}

/// Returns the choice of the events of a run that an earlier process has accepted.
pub(super) fn stream_again(request: &RunRequest, record: &RunRecord) -> StreamSpec {
    let Run { run_id, thread_id, assistant_id, .. } = record.run;
    let (graph_id, user_id, thread_id) = (&*record.graph_id, record.user_id.clone(), Some(thread_id));
    RunParts { request, run_id, thread_id, assistant_id, graph_id, user_id }.stream()
}

/// Lets a run send the events of its thread, if its client wants them or another reads them. Returns the kinds of events
/// that the run has to send.
pub(super) fn send_thread_events(
    app: &App,
    live: &LiveRun,
    request: &RunRequest,
    stream: &StreamSpec,
    epoch: u64,
) -> Vec<superstep::StreamMode> {
    let thread = live.thread_id.and_then(|id| {
        if request.thread_events { Some(app.thread_streams.open(id)) } else { app.thread_streams.find(id) }
    });
    let Some(thread) = thread else {
        let mut events = stream.events();
        // The ids of events contain the checkpoint of the latest state.
        if request.stream_resumable && !events.contains(&superstep::StreamMode::Values) {
            events.push(superstep::StreamMode::Values);
        }
        return events;
    };
    let mut events = RunEvents::new(thread, stream.clone(), epoch);
    // A run that is executed again may have stored its input, and with `exit` nothing is stored until the end.
    if request.input.is_some() && epoch == 1 && request.durability != DurabilityName::Exit {
        events.expect_input();
    }
    live.send_thread_events(events);
    superstep::StreamMode::ALL.to_vec()
}
