use std::sync::Arc;

use serde_json::Value;
use superstep::checkpoint::{CheckpointId, MemoryCheckpointer};
use superstep::run::{NeedsContext, Run, Stop, Target};
use superstep::stream::RunStream;
use superstep::thread::{Goto, OnThread, PersistentGraph, Thread, keep_plan};
use superstep::{Durability, Error, GraphState, StreamMode};

use super::RunFailure;
use super::answers::resolve;
use super::any_graph::{Boxed, Events, PreparedRun};
use super::events_of::EventsOf;
use super::run_spec::{BeginSpec, Breakpoints, Execution, RUN_ID, RunOptions, RunSpec, Way, WayKind};
use super::update::{as_node, read_update};
use crate::api_error::{ApiError, ApiResult};

/// A run whose JSON was read, with its types.
pub(super) struct Prepared<S: GraphState, D> {
    graph: PersistentGraph<S, D>,
    context: Arc<D>,
    run_id: Arc<str>,
    begin: Begin<S>,
    at: Option<CheckpointId>,
    options: RunOptions,
}

enum Begin<S: GraphState> {
    Input(S::Input),
    Continue { resume: Option<Value>, update: Option<S::Update>, goto: Vec<Goto> },
}

impl<S: GraphState, D: Send + Sync + 'static> Prepared<S, D> {
    pub(super) fn read(graph: PersistentGraph<S, D>, context: Arc<D>, spec: RunSpec) -> ApiResult<Self> {
        let RunSpec { run_id, begin, at, options, .. } = spec;
        for names in [&options.before, &options.after] {
            check_nodes(&graph, names)?;
        }
        let begin = match begin {
            // A client that knows newer fields is served all the same.
            BeginSpec { input: Some(input), .. } => Begin::Input(graph.graph().parse_input_lenient(input)?.0),
            BeginSpec { input: None, update, resume, goto } => {
                let update = update.map(read_update::<S>).transpose()?;
                let goto = goto.into_iter().filter(|goto| goto.node != "__end__").map(|goto| {
                    if graph.graph().node(&goto.node).is_none() {
                        return Err(unknown_node(&graph, &goto.node));
                    }
                    let named = Goto::named(goto.node);
                    Ok(match goto.packet {
                        Some(packet) => named.packet(packet),
                        None => named,
                    })
                });
                Begin::Continue { resume, update, goto: goto.collect::<ApiResult<_>>()? }
            }
        };
        Ok(Self { graph, context, run_id, begin, at, options })
    }

    async fn started(self, execution: Execution) -> Result<RunStream<S>, RunFailure> {
        let Execution { thread, way, modes, stop, again } = execution;
        let in_memory = thread.is_none();
        let thread = match &thread {
            Some(name) => self.graph.thread(name),
            None => self.graph.graph().with_checkpointer(MemoryCheckpointer::new()).thread("run"),
        };
        let Self { context, run_id, begin, at, mut options, .. } = self;
        if in_memory && !modes.contains(&StreamMode::Checkpoints) {
            // No client can read them, and the checkpoints of a run are most of its memory.
            options.durability = Durability::Exit;
        }
        let set = Settings { options, context, modes, stop };
        let (update, goto) = match begin {
            Begin::Input(input) => {
                let run = match at {
                    Some(at) => thread.at(at).run(input),
                    None => thread.run(input),
                };
                return Ok(set.stream(run.abandon_pending().run_id(&*run_id)));
            }
            Begin::Continue { update, goto, .. } => (update, goto),
        };
        let answers = match way.kind {
            WayKind::Resume(answers) => answers,
            WayKind::Nothing | WayKind::Input => return Err(RunFailure::empty_input()),
            WayKind::Replay => {
                let at = at.ok_or_else(RunFailure::empty_input)?;
                if again && begun(&thread, &run_id).await? {
                    return Ok(set.stream(thread.resume(()).idempotency_key(&*run_id)));
                }
                let run = thread.at(at).run_again();
                return Ok(set.stream(match update {
                    Some(update) => run.update(update),
                    None => run,
                }));
            }
            WayKind::UpdateFirst => {
                write_first(&thread, &set, &run_id, update.unwrap_or_default(), keep_plan()).await?;
                return Ok(set.stream(thread.resume(()).idempotency_key(&*run_id)));
            }
            WayKind::Fresh => {
                write_first(
                    &thread,
                    &set,
                    &run_id,
                    update.unwrap_or_default(),
                    as_node("__end__".to_owned()),
                )
                .await?;
                let run = goto.into_iter().fold(thread.resume(()), |run, goto| run.goto(goto));
                return Ok(set.stream(run.idempotency_key(&*run_id)));
            }
        };
        let answers: Vec<_> =
            answers.into_iter().map(|(id, answer)| superstep::interrupt::Answer::json(id, answer)).collect();
        let run = thread.resume(answers).idempotency_key(&*run_id);
        let run = match update {
            Some(update) => run.update(update),
            None => run,
        };
        Ok(set.stream(goto.into_iter().fold(run, |run, goto| run.goto(goto))))
    }
}

impl<S: GraphState, D: Send + Sync + 'static> PreparedRun for Prepared<S, D> {
    fn decide<'a>(&'a self, thread: Option<&'a str>) -> Boxed<'a, ApiResult<Way>> {
        // An input may not be `Sync`, so the future borrows single fields.
        let (input, resume, updates, goes) = match &self.begin {
            Begin::Input(_) => (true, None, false, false),
            Begin::Continue { resume, update, goto } => {
                (false, resume.as_ref(), update.is_some(), !goto.is_empty())
            }
        };
        let (graph, at) = (&self.graph, self.at);
        Box::pin(async move {
            match thread {
                Some(thread) if input => decide_input(&graph.thread(thread), at).await,
                Some(thread) => decide(&graph.thread(thread), at, Asked { resume, updates, goes }).await,
                // A thread in memory has no state.
                None if input => Ok(Way::of(WayKind::Input)),
                None => Ok(Way::of(if updates || goes { WayKind::Fresh } else { WayKind::Nothing })),
            }
        })
    }

    fn start(self: Box<Self>, execution: Execution) -> Boxed<'static, Result<Events, RunFailure>> {
        Box::pin(async move {
            let stream = self.started(execution).await?;
            Ok(Box::pin(EventsOf::new(stream)) as Events)
        })
    }
}

/// A request to continue a thread.
struct Asked<'a> {
    resume: Option<&'a Value>,
    updates: bool,
    goes: bool,
}

async fn decide_input<S: GraphState, D: Send + Sync + 'static>(
    thread: &Thread<S, D>,
    at: Option<CheckpointId>,
) -> ApiResult<Way> {
    if let Some(at) = at {
        require(thread, at).await?;
    }
    Ok(Way::of(WayKind::Input))
}

async fn decide<S: GraphState, D: Send + Sync + 'static>(
    thread: &Thread<S, D>,
    at: Option<CheckpointId>,
    Asked { resume, updates, goes }: Asked<'_>,
) -> ApiResult<Way> {
    let Some(head) = thread.state().await? else {
        return match at {
            Some(at) => Err(no_checkpoint(thread, at)),
            None => Ok(Way::of(if updates || goes { WayKind::Fresh } else { WayKind::Nothing })),
        };
    };
    let base = Some(head.id);
    if let Some(at) = at.filter(|at| *at != head.id) {
        require(thread, at).await?;
        if resume.is_some() || goes {
            return Err(ApiError::unprocessable(
                "`resume` and `goto` continue the latest checkpoint of a thread: leave the checkpoint out, or run it \
                 again without a command first",
            ));
        }
        return Ok(Way { kind: WayKind::Replay, base });
    }
    let open: Vec<_> = head.interrupts().collect();
    let answers = resume.map(|resume| resolve(&open, resume)).transpose()?.unwrap_or_default();
    let kind =
        if updates && !goes && head.is_finished() { WayKind::UpdateFirst } else { WayKind::Resume(answers) };
    Ok(Way { kind, base })
}

/// The options of a run, whatever it begins with.
struct Settings<D> {
    options: RunOptions,
    context: Arc<D>,
    modes: Vec<StreamMode>,
    stop: Stop,
}

impl<D: Send + Sync + 'static> Settings<D> {
    fn stream<S: GraphState, K>(self, run: Run<S, D, NeedsContext, OnThread<S, K>>) -> RunStream<S>
    where
        OnThread<S, K>: Target<S>,
    {
        let Self { options, context, modes, stop } = self;
        let RunOptions { durability, recursion_limit, before, after, metadata } = options;
        let mut run = run.durability(durability).stop_by(&stop).events(modes);
        if let Some(limit) = recursion_limit {
            run = run.recursion_limit(limit);
        }
        run = match before {
            Breakpoints::All => run.interrupt_before_all(),
            Breakpoints::Named(names) => run.interrupt_before_named(names),
        };
        run = match after {
            Breakpoints::All => run.interrupt_after_all(),
            Breakpoints::Named(names) => run.interrupt_after_named(names),
        };
        let run = metadata.into_iter().fold(run, |run, (key, value)| run.metadata(key, value));
        run.context(context).stream()
    }
}

/// Writes the update of a command before its run.
async fn write_first<S: GraphState, D: Send + Sync + 'static>(
    thread: &Thread<S, D>,
    set: &Settings<D>,
    run_id: &str,
    update: S::Update,
    place: superstep::thread::AsNode,
) -> Result<(), Error> {
    let written = thread.update(update, place).idempotency_key(format!("{run_id}/update"));
    let metadata = set.options.metadata.clone().into_iter();
    let written = metadata.fold(written, |written, (key, value)| written.metadata(key, value));
    written.context(Arc::clone(&set.context)).await.map(|_| ())
}

/// Returns `true` if the thread has a checkpoint of the run.
async fn begun<S: GraphState, D: Send + Sync + 'static>(
    thread: &Thread<S, D>,
    run_id: &str,
) -> Result<bool, Error> {
    Ok(!thread.history().filter(RUN_ID, run_id).limit(1).await?.is_empty())
}

async fn require<S: GraphState, D: Send + Sync + 'static>(
    thread: &Thread<S, D>,
    at: CheckpointId,
) -> ApiResult<()> {
    match thread.at(at).state().await? {
        Some(_) => Ok(()),
        None => Err(no_checkpoint(thread, at)),
    }
}

fn no_checkpoint<S: GraphState, D: Send + Sync + 'static>(
    thread: &Thread<S, D>,
    at: CheckpointId,
) -> ApiError {
    ApiError::no_checkpoint(format!(
        "thread `{}` has no checkpoint {}",
        thread.name(),
        super::checkpoint_uuid(at)
    ))
}

fn check_nodes<S: GraphState, D: Send + Sync + 'static>(
    graph: &PersistentGraph<S, D>,
    names: &Breakpoints,
) -> ApiResult<()> {
    let Breakpoints::Named(names) = names else { return Ok(()) };
    match names.iter().find(|name| graph.graph().node(name).is_none()) {
        Some(unknown) => Err(unknown_node(graph, unknown)),
        None => Ok(()),
    }
}

fn unknown_node<S: GraphState, D: Send + Sync + 'static>(
    graph: &PersistentGraph<S, D>,
    node: &str,
) -> ApiError {
    let nodes: Vec<_> = graph.graph().nodes().map(|node| format!("`{node}`")).collect();
    ApiError::unprocessable(format!("the graph has no node `{node}`: its nodes are {}", nodes.join(", ")))
}
