use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::Value;

use super::outline::any_of;
use super::schema::component;
use super::{
    CheckpointConfig, DurabilityName, Fields, IfNotExists, MultitaskStrategy, Object, OnCompletion,
    OnDisconnect, Place, Problems, Read, StreamMode, ThreadId, ThreadStreamMode, kind,
};

/// The body of a request for a run.
#[derive(Clone, Debug, JsonSchema)]
pub(crate) struct RunRequest {
    /// The id of an assistant, or the name of a graph.
    #[schemars(rename = "assistant_id")]
    pub(crate) assistant: String,
    /// The input, as the `input_schema` of the graph describes it. Not together with a command.
    pub(crate) input: Option<Value>,
    /// The command, for a thread that waits. Not together with an input.
    #[schemars(with = "Value")]
    pub(crate) command: Option<Command>,
    /// The context, as the graph reads it. `config.configurable` is the same.
    pub(crate) context: Object,
    /// `config` without the keys that have a field of their own.
    pub(crate) config: Object,
    /// `config.recursion_limit`.
    pub(crate) recursion_limit: Option<u64>,
    /// The metadata of the run.
    pub(crate) metadata: Object,
    /// The kinds of events.
    pub(crate) stream_mode: Vec<StreamMode>,
    /// `true` to stream the events of subgraphs.
    pub(crate) stream_subgraphs: bool,
    /// `true` to keep the events for clients that come back.
    pub(crate) stream_resumable: bool,
    /// `true` to send the events of the thread, in the second version of the protocol.
    pub(crate) thread_events: bool,
    /// Nodes before which the run stops. `*` stands for all.
    #[schemars(with = "Value")]
    pub(crate) interrupt_before: Nodes,
    /// Nodes after which the run stops. `*` stands for all.
    #[schemars(with = "Value")]
    pub(crate) interrupt_after: Nodes,
    /// The checkpoint from which the run forks.
    pub(crate) checkpoint: Option<CheckpointConfig>,
    /// The treatment of the run on a busy thread.
    pub(crate) multitask_strategy: MultitaskStrategy,
    /// The treatment of the run if the client disconnects.
    pub(crate) on_disconnect: OnDisconnect,
    /// The treatment of the thread of a stateless run.
    pub(crate) on_completion: OnCompletion,
    /// The reaction to a thread that does not exist.
    pub(crate) if_not_exists: IfNotExists,
    /// Seconds until the run starts.
    pub(crate) after_seconds: Option<f64>,
    /// The address that gets the result of the run.
    pub(crate) webhook: Option<String>,
    /// The time at which the steps are stored.
    pub(crate) durability: DurabilityName,
}

/// Nodes of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Nodes {
    /// `"*"`.
    All,
    /// A list of names.
    Named(Vec<String>),
}

/// A command for a thread.
#[derive(Clone, Debug, PartialEq, JsonSchema)]
pub(crate) struct Command {
    /// An update of the state, as the `state_schema` of the graph describes its fields.
    pub(crate) update: Option<Value>,
    /// Answers: of the only question, or by the ids of questions.
    pub(crate) resume: Option<Value>,
    /// Nodes to run.
    #[schemars(with = "Value")]
    pub(crate) goto: Vec<Goto>,
}

/// A node to run.
#[derive(Clone, Debug, PartialEq, JsonSchema)]
pub(crate) struct Goto {
    /// The name of the node.
    pub(crate) node: String,
    /// The packet that the node reads.
    #[schemars(rename = "input")]
    pub(crate) packet: Option<Value>,
}

impl Read for RunRequest {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = Fields::of(value, at, problems)?;
        let assistant = fields.required("assistant_id");
        let (context, config, recursion_limit, configured) = read_config(&mut fields);
        let checkpoint = read_checkpoint(&mut fields).or(configured);
        let after_seconds = fields.optional::<f64>("after_seconds");
        if after_seconds.is_some_and(|seconds| !(0.0..=1e9).contains(&seconds)) {
            fields.refuse("after_seconds", "expected a number of seconds from 0 to a billion");
        }
        let request = Self {
            assistant: String::new(),
            input: fields.optional("input"),
            command: fields.optional("command"),
            context,
            config,
            recursion_limit,
            metadata: fields.optional("metadata").unwrap_or_default(),
            stream_mode: fields.optional::<StreamModes>("stream_mode").unwrap_or_default().0,
            stream_subgraphs: fields.optional("stream_subgraphs").unwrap_or_default(),
            stream_resumable: fields.optional("stream_resumable").unwrap_or_default(),
            thread_events: fields.optional("thread_events").unwrap_or_default(),
            interrupt_before: fields.optional("interrupt_before").unwrap_or_default(),
            interrupt_after: fields.optional("interrupt_after").unwrap_or_default(),
            checkpoint,
            multitask_strategy: fields.optional("multitask_strategy").unwrap_or(MultitaskStrategy::Enqueue),
            on_disconnect: fields.optional("on_disconnect").unwrap_or(OnDisconnect::Continue),
            on_completion: fields.optional("on_completion").unwrap_or(OnCompletion::Delete),
            if_not_exists: fields.optional("if_not_exists").unwrap_or(IfNotExists::Reject),
            after_seconds,
            webhook: fields.optional("webhook"),
            durability: read_durability(&mut fields),
        };
        describe(&mut fields);
        let commands = request.command.as_ref().is_some_and(|command| !command.is_empty());
        // agent-chat-ui sends an empty input with its answers.
        let is_empty = |input: &Value| input.as_object().is_some_and(Object::is_empty);
        let input = request.input.filter(|input| !commands || !is_empty(input));
        if commands && input.is_some() {
            fields.refuse("command", "`input` is given too: send one of them");
        }
        Some(Self { assistant: assistant?, input, ..request })
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        component::<Self>(generator)
    }
}

/// Describes what the types do not say, for the schema.
fn describe(fields: &mut Fields<'_>) {
    fields.describe("config", "Options of the run. `configurable` is the context.");
    fields.refine("config", || {
        json_schema!({
            "type": ["object", "null"],
            "properties": {
                "recursion_limit": { "type": ["integer", "null"], "minimum": 1 },
                "configurable": { "type": ["object", "null"] },
            },
        })
    });
    fields.describe("checkpoint_id", "The id of the checkpoint from which the run forks.");
    fields.describe("checkpoint_during", "Of older clients: `false` stands for the durability `exit`.");
    fields.refine("after_seconds", || json_schema!({ "type": "number", "minimum": 0, "maximum": 1e9 }));
}

/// A run of a batch.
#[derive(Debug, JsonSchema)]
pub(crate) struct BatchedRun {
    /// The thread. `None` stands for a thread of its own.
    pub(crate) thread_id: Option<ThreadId>,
    /// The request.
    #[schemars(flatten)]
    pub(crate) request: RunRequest,
    /// The request as it was sent.
    #[schemars(skip)]
    pub(crate) body: Object,
}

impl Read for BatchedRun {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let body = value.as_object().cloned().unwrap_or_default();
        let thread_id = Fields::of(value.clone(), at, problems)?.optional("thread_id");
        Some(Self { thread_id, request: RunRequest::read(value, at, problems)?, body })
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        component::<Self>(generator)
    }
}

type Config = (Object, Object, Option<u64>, Option<CheckpointConfig>);

/// Reads `config` and `context`: the context, the rest of the config, the limit, and the checkpoint in `configurable`.
fn read_config(fields: &mut Fields<'_>) -> Config {
    let mut config = fields.optional::<Object>("config").unwrap_or_default();
    let given = fields.optional::<Object>("context");
    let recursion_limit = match config.get("recursion_limit") {
        None | Some(Value::Null) => None,
        Some(limit) => {
            let number = limit.as_u64().filter(|&limit| limit > 0);
            if number.is_none() {
                fields.refuse("config.recursion_limit", "expected a positive integer");
            }
            number
        }
    };
    let mut checkpoint = None;
    let configurable = match config.get_mut("configurable") {
        None | Some(Value::Null) => None,
        Some(Value::Object(configurable)) => {
            // Not settings of the application: clients put the place of the run here.
            if let Some(Value::String(id)) = configurable.remove("checkpoint_id") {
                checkpoint =
                    Some(CheckpointConfig { checkpoint_id: Some(id), ..CheckpointConfig::default() });
            }
            for place in ["thread_id", "checkpoint_ns", "checkpoint_map"] {
                configurable.remove(place);
            }
            (!configurable.is_empty()).then(|| configurable.clone())
        }
        Some(other) => {
            let found = kind(other);
            fields.refuse("config.configurable", format_args!("expected an object, found {found}"));
            None
        }
    };
    let context = match (given, configurable) {
        (Some(given), Some(configurable)) if given != configurable => {
            fields
                .refuse("context", "`config.configurable` is given too: they are the same, send one of them");
            Object::new()
        }
        (given, configurable) => given.or(configurable).unwrap_or_default(),
    };
    (context, config, recursion_limit, checkpoint)
}

fn read_checkpoint(fields: &mut Fields<'_>) -> Option<CheckpointConfig> {
    let id = fields.optional::<String>("checkpoint_id");
    let checkpoint = fields.optional::<CheckpointConfig>("checkpoint");
    match (checkpoint, id) {
        (Some(checkpoint), None) => Some(checkpoint),
        (Some(checkpoint), Some(id)) => Some(CheckpointConfig { checkpoint_id: Some(id), ..checkpoint }),
        (None, id) => {
            id.map(|id| CheckpointConfig { checkpoint_id: Some(id), ..CheckpointConfig::default() })
        }
    }
}

/// Reads `durability`, and `checkpoint_during` of older clients.
fn read_durability(fields: &mut Fields<'_>) -> DurabilityName {
    let during = fields.optional::<bool>("checkpoint_during");
    let older = if during == Some(false) { DurabilityName::Exit } else { DurabilityName::Async };
    fields.optional("durability").unwrap_or(older)
}

/// One mode or a list of modes.
struct StreamModes(Vec<StreamMode>);

impl Default for StreamModes {
    fn default() -> Self {
        Self(vec![StreamMode::Values])
    }
}

impl Read for StreamModes {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let of_thread = |mode: &Value| *mode == ThreadStreamMode::Lifecycle.name();
        if of_thread(&value) || value.as_array().is_some_and(|modes| modes.iter().any(of_thread)) {
            problems.add(at, "`lifecycle` is not a mode of a run: read it in the stream of the thread");
            return None;
        }
        if value.is_array() {
            let modes = Vec::<StreamMode>::read(value, at, problems)?;
            return Some(if modes.is_empty() { Self::default() } else { Self(modes) });
        }
        Some(Self(vec![StreamMode::read(value, at, problems)?]))
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        any_of([StreamMode::schema(generator), Vec::<StreamMode>::schema(generator)])
    }
}

impl Default for Nodes {
    fn default() -> Self {
        Self::Named(Vec::new())
    }
}

impl Read for Nodes {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        match value {
            Value::String(all) if all == "*" => Some(Self::All),
            Value::String(node) => Some(Self::Named(vec![node])),
            list => {
                let names = Vec::<String>::read(list, at, problems)?;
                Some(if names.iter().any(|name| name == "*") { Self::All } else { Self::Named(names) })
            }
        }
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        any_of([String::schema(generator), Vec::<String>::schema(generator)])
    }
}

impl Command {
    /// Returns `true` if the command says nothing, as clients send it next to an input.
    pub(crate) fn is_empty(&self) -> bool {
        self.update.is_none() && self.resume.is_none() && self.goto.is_empty()
    }
}

impl Read for Command {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = Fields::of(value, at, problems)?;
        Some(Self {
            update: fields.optional("update"),
            resume: fields.optional("resume"),
            goto: fields.optional::<Gotos>("goto").unwrap_or_default().0,
        })
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        component::<Self>(generator)
    }
}

/// One node or a list of nodes.
#[derive(Default)]
struct Gotos(Vec<Goto>);

impl Read for Gotos {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        if value.is_array() {
            return Vec::<Goto>::read(value, at, problems).map(Self);
        }
        Some(Self(vec![Goto::read(value, at, problems)?]))
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        any_of([Goto::schema(generator), Vec::<Goto>::schema(generator)])
    }
}

impl Read for Goto {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        if let Value::String(node) = value {
            return Some(Self { node, packet: None });
        }
        let mut fields = Fields::of(value, at, problems)?;
        let node = fields.required("node");
        let packet = fields.raw("input");
        Some(Self { node: node?, packet })
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        any_of([String::schema(generator), component::<Self>(generator)])
    }
}

#[cfg(test)]
mod tests;
