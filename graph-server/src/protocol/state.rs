use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::Value;

use super::outline::any_of;
use super::schema::component;
use super::{CheckpointConfig, Fields, Object, Place, Problems, Read};

/// The body of `POST /threads/{thread}/state`.
#[derive(Debug, JsonSchema)]
pub(crate) struct StateUpdate {
    /// The update: an object, a list of objects, or null.
    pub(crate) values: Value,
    /// The node in whose place the update is made.
    pub(crate) as_node: Option<String>,
    /// The checkpoint to update. `None` stands for the latest.
    pub(crate) checkpoint: Option<CheckpointConfig>,
}

impl Read for StateUpdate {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = Fields::of(value, at, problems)?;
        let id = fields.optional::<String>("checkpoint_id");
        let checkpoint = fields.optional::<CheckpointConfig>("checkpoint");
        fields.describe("checkpoint_id", "The id of the checkpoint to update.");
        Some(Self {
            values: fields.raw("values").unwrap_or_default(),
            as_node: fields.optional("as_node"),
            checkpoint: match (checkpoint, id) {
                (Some(checkpoint), Some(id)) => {
                    Some(CheckpointConfig { checkpoint_id: Some(id), ..checkpoint })
                }
                (None, Some(id)) => {
                    Some(CheckpointConfig { checkpoint_id: Some(id), ..CheckpointConfig::default() })
                }
                (checkpoint, None) => checkpoint,
            },
        })
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        component::<Self>(generator)
    }
}

/// The body of `PATCH /threads/{thread}/state`.
#[derive(Debug, JsonSchema)]
pub(crate) struct MetadataPatch {
    /// The metadata to merge.
    pub(crate) metadata: Object,
}

impl Read for MetadataPatch {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = Fields::of(value, at, problems)?;
        Some(Self { metadata: fields.required("metadata")? })
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        component::<Self>(generator)
    }
}

/// The body of `POST /threads/{thread}/state/checkpoint`.
#[derive(Debug, JsonSchema)]
pub(crate) struct StateAt {
    /// The checkpoint.
    pub(crate) checkpoint: CheckpointConfig,
    /// `true` to include the states of subgraphs.
    pub(crate) subgraphs: bool,
}

impl Read for StateAt {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = Fields::of(value, at, problems)?;
        let checkpoint = fields.required("checkpoint");
        let subgraphs = fields.optional("subgraphs").unwrap_or_default();
        Some(Self { checkpoint: checkpoint?, subgraphs })
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        component::<Self>(generator)
    }
}

/// The body of `POST /threads/{thread}/history`.
#[derive(Debug, JsonSchema)]
pub(crate) struct HistoryRequest {
    /// The maximum number of states.
    pub(crate) limit: usize,
    /// Only states before this checkpoint: its id, or a checkpoint.
    pub(crate) before: Option<String>,
    /// Only states with these metadata.
    pub(crate) metadata: Object,
    /// The namespace of a subgraph, and the checkpoint from which the history is read.
    pub(crate) checkpoint: Option<CheckpointConfig>,
}

/// The maximum length of a history in one response.
pub(crate) const MAX_HISTORY: u64 = 1_000;

impl Read for HistoryRequest {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = Fields::of(value, at, problems)?;
        let limit = fields.integer("limit", 1..=MAX_HISTORY, 10);
        Some(Self {
            limit: usize::try_from(limit).unwrap_or(usize::MAX),
            before: fields.optional::<Before>("before").and_then(|before| before.0),
            metadata: fields.optional("metadata").unwrap_or_default(),
            checkpoint: fields.optional("checkpoint"),
        })
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        component::<Self>(generator)
    }
}

/// A checkpoint as `before` names it: its id, a checkpoint, or a config with a checkpoint.
#[derive(JsonSchema)]
struct Before(Option<String>);

impl Read for Before {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        if let Value::String(id) = value {
            return Some(Self(Some(id)));
        }
        let mut fields = Fields::of(value, at, problems)?;
        let configured = fields.optional::<CheckpointConfig>("configurable");
        let id = fields.optional::<String>("checkpoint_id");
        Some(Self(id.or(configured.and_then(|configured| configured.checkpoint_id))))
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        any_of([String::schema(generator), component::<Self>(generator)])
    }
}

/// The body of `POST /runs/cancel`.
#[derive(Debug, JsonSchema)]
pub(crate) struct CancelRuns {
    /// The thread.
    pub(crate) thread_id: Option<super::ThreadId>,
    /// The runs.
    pub(crate) run_ids: Vec<super::RunId>,
    /// All runs with this status, instead.
    pub(crate) status: Option<CancelStatus>,
}

super::names! {
    /// A choice of unfinished runs.
    pub(crate) enum CancelStatus {
        /// Runs that wait for their turn.
        Pending = "pending",
        /// Active runs.
        Running = "running",
        /// Both.
        All = "all",
    }
}

impl Read for CancelRuns {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = Fields::of(value, at, problems)?;
        let cancel = Self {
            thread_id: fields.optional("thread_id"),
            run_ids: fields.optional("run_ids").unwrap_or_default(),
            status: fields.optional("status"),
        };
        if cancel.status.is_none() && (cancel.run_ids.is_empty() || cancel.thread_id.is_none()) {
            fields.refuse("run_ids", "give `thread_id` and `run_ids`, or a `status`");
        }
        Some(cancel)
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        component::<Self>(generator)
    }
}
