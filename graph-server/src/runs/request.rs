//! A request for a run, with the settings of its assistant.

use std::sync::Arc;

use serde_json::{Value, json};
use superstep::{Durability, checkpoint::CheckpointId};

use crate::api_error::{ApiError, ApiResult};
use crate::graphs::{BeginSpec, Breakpoints, GotoSpec, RunContext, RunOptions, RunSpec, read_checkpoint_id};
use crate::protocol::{AssistantId, DurabilityName, Nodes, Object, RunId, RunRequest, ThreadId};
use crate::records::AssistantRecord;
use crate::stream::StreamSpec;

/// The parts of a run that its request and its assistant determine.
pub(super) struct RunParts<'r> {
    pub(super) request: &'r RunRequest,
    pub(super) run_id: RunId,
    pub(super) thread_id: Option<ThreadId>,
    pub(super) assistant_id: AssistantId,
    pub(super) graph_id: &'r str,
    pub(super) user_id: Option<Arc<str>>,
}

/// Merges the settings of an assistant into a request. The request has precedence.
pub(super) fn merge(request: &mut RunRequest, assistant: &AssistantRecord) {
    let mut context = assistant.context.clone();
    let mut config = assistant.config.clone();
    if let Some(Value::Object(configurable)) = config.remove("configurable") {
        for (key, value) in configurable {
            context.entry(key).or_insert(value);
        }
    }
    context.extend(std::mem::take(&mut request.context));
    request.context = context;
    if request.recursion_limit.is_none() {
        request.recursion_limit =
            config.get("recursion_limit").and_then(Value::as_u64).filter(|&limit| limit > 0);
    }
    config.extend(std::mem::take(&mut request.config));
    config.remove("configurable");
    request.config = config;
}

/// Returns the body of a request with the merged settings, from which the run can be started again.
pub(super) fn kwargs(mut body: Object, request: &RunRequest) -> Object {
    body.insert("config".to_owned(), Value::Object(request.config.clone()));
    body.insert("context".to_owned(), Value::Object(request.context.clone()));
    body.remove("checkpoint_id");
    if let Some(checkpoint) = &request.checkpoint {
        body.insert("checkpoint".to_owned(), json!(checkpoint));
    }
    body
}

impl RunParts<'_> {
    /// Returns the checkpoint of the request.
    fn at(&self) -> ApiResult<Option<CheckpointId>> {
        let Some(checkpoint) = &self.request.checkpoint else { return Ok(None) };
        if !checkpoint.checkpoint_ns.is_empty() {
            return Err(ApiError::unprocessable(
                "`checkpoint.checkpoint_ns`: a run begins at a checkpoint of the graph itself, not of a subgraph",
            ));
        }
        let Some(id) = &checkpoint.checkpoint_id else { return Ok(None) };
        match read_checkpoint_id(id) {
            Some(id) => Ok(Some(id)),
            None => Err(ApiError::unprocessable(format!(
                "`checkpoint.checkpoint_id`: `{id}` is not a checkpoint id"
            ))),
        }
    }

    /// Returns the metadata of the run: those of the request, and those that clients look for.
    pub(super) fn metadata(&self) -> Object {
        let mut metadata = self.request.metadata.clone();
        metadata.insert("graph_id".to_owned(), json!(self.graph_id));
        metadata.insert("assistant_id".to_owned(), json!(self.assistant_id));
        metadata
    }

    /// Returns the run as its graph reads it.
    pub(super) fn spec(&self) -> ApiResult<RunSpec> {
        let request = self.request;
        let text = |id: &dyn std::fmt::Display| -> Arc<str> { id.to_string().into() };
        let run_id = text(&self.run_id);
        let mut metadata = self.metadata();
        metadata.insert("run_id".to_owned(), json!(&*run_id));
        if let Some(thread) = self.thread_id {
            metadata.insert("thread_id".to_owned(), json!(thread));
        }
        let command = request.command.clone();
        let begin = match (request.input.clone(), command) {
            (Some(input), _) => BeginSpec { input: Some(input), ..BeginSpec::default() },
            (None, None) => BeginSpec::default(),
            (None, Some(command)) => BeginSpec {
                input: None,
                update: command.update,
                resume: command.resume,
                goto: command
                    .goto
                    .into_iter()
                    .map(|goto| GotoSpec { node: goto.node, packet: goto.packet })
                    .collect(),
            },
        };
        Ok(RunSpec {
            begin,
            at: self.at()?,
            context: RunContext {
                thread_id: self.thread_id.map_or_else(|| Arc::from(""), |thread| text(&thread)),
                run_id: Arc::clone(&run_id),
                assistant_id: text(&self.assistant_id),
                context: request.context.clone(),
                identity: self.user_id.clone(),
            },
            options: RunOptions {
                durability: match request.durability {
                    DurabilityName::Sync => Durability::Sync,
                    DurabilityName::Async => Durability::Async,
                    DurabilityName::Exit => Durability::Exit,
                },
                recursion_limit: request.recursion_limit,
                before: breakpoints(&request.interrupt_before),
                after: breakpoints(&request.interrupt_after),
                metadata,
            },
            run_id,
        })
    }

    /// Returns the choice of the events of the run.
    pub(super) fn stream(&self) -> StreamSpec {
        StreamSpec {
            modes: self.request.stream_mode.clone(),
            subgraphs: self.request.stream_subgraphs,
            run_id: self.run_id.to_string(),
            thread_id: self.thread_id.map(|thread| thread.to_string()).unwrap_or_default(),
            assistant_id: self.assistant_id.to_string(),
            graph_id: self.graph_id.to_owned(),
            metadata: self.metadata(),
        }
    }
}

fn breakpoints(nodes: &Nodes) -> Breakpoints {
    match nodes {
        Nodes::All => Breakpoints::All,
        Nodes::Named(names) => Breakpoints::Named(names.clone()),
    }
}
