use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::outline::any_of;
use super::schema::component;
use super::{
    Fields, IfExists, Object, Place, Problems, Read, SortOrder, ThreadId, ThreadPath, Timestamp, names,
};

names! {
    /// The status of a thread.
    pub(crate) enum ThreadStatus {
        /// No run is waiting or active, and nothing waits for an answer.
        Idle = "idle",
        /// A run is waiting or active.
        Busy = "busy",
        /// The last run has stopped at a question or a breakpoint, or was cancelled.
        Interrupted = "interrupted",
        /// The last run has failed.
        Error = "error",
    }
}

names! {
    /// The fields by which threads are sorted.
    pub(crate) enum ThreadSort {
        /// By id.
        ThreadId = "thread_id",
        /// By the name of the status.
        Status = "status",
        /// By the time of creation.
        CreatedAt = "created_at",
        /// By the time of the last change.
        UpdatedAt = "updated_at",
        /// By the time of the last change of the state.
        StateUpdatedAt = "state_updated_at",
    }
}

names! {
    /// The fields of a thread, as `select` names them.
    pub(crate) enum ThreadField {
        /// The id.
        ThreadId = "thread_id",
        /// The time of creation.
        CreatedAt = "created_at",
        /// The time of the last change.
        UpdatedAt = "updated_at",
        /// The time of the last change of the state.
        StateUpdatedAt = "state_updated_at",
        /// The metadata.
        Metadata = "metadata",
        /// The config of the last run.
        Config = "config",
        /// The context of the last run.
        Context = "context",
        /// The status.
        Status = "status",
        /// The state.
        Values = "values",
        /// The open questions.
        Interrupts = "interrupts",
        /// The error of the last run.
        Error = "error",
    }
}

names! {
    /// The treatment of a thread at the end of its time to live.
    pub(crate) enum TtlStrategy {
        /// The thread is deleted.
        Delete = "delete",
        /// All checkpoints except the latest are deleted.
        KeepLatest = "keep_latest",
    }
}

/// The error of the last run of a thread, as in `{"__error__": ..}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct RunError {
    /// The kind of the error.
    pub(crate) error: String,
    /// The text of the error.
    pub(crate) message: String,
}

/// The time to live of a thread: minutes since its last change.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Ttl {
    /// The number of minutes.
    pub(crate) ttl: f64,
    /// The treatment then.
    pub(crate) strategy: TtlStrategy,
}

impl Ttl {
    /// Returns the time at which the time to live ends.
    pub(crate) fn end(self, from: Timestamp) -> Timestamp {
        let duration = Duration::try_from_secs_f64(self.ttl * 60.0).unwrap_or(Duration::MAX);
        from.after(duration)
    }
}

impl Read for Ttl {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        // Clients send the number alone too.
        if let Some(ttl) = value.as_f64() {
            return Self::of(ttl, TtlStrategy::Delete, at, problems);
        }
        let mut fields = Fields::of(value, at, problems)?;
        let ttl = fields.required::<f64>("ttl");
        let strategy = fields.optional("strategy").unwrap_or(TtlStrategy::Delete);
        Self::of(ttl?, strategy, &Place::Field(at, "ttl"), problems)
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        any_of([json_schema!({ "type": "number", "exclusiveMinimum": 0 }), component::<Self>(generator)])
    }
}

impl Ttl {
    fn of(ttl: f64, strategy: TtlStrategy, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        if ttl > 0.0 && ttl.is_finite() {
            return Some(Self { ttl, strategy });
        }
        problems.add(at, "expected a positive number of minutes");
        None
    }
}

/// The body of `POST /threads`.
#[derive(Debug, JsonSchema)]
pub(crate) struct ThreadCreate {
    /// The id that the client has chosen.
    pub(crate) thread_id: Option<ThreadId>,
    /// The metadata.
    pub(crate) metadata: Object,
    /// The reaction to a thread that exists.
    pub(crate) if_exists: IfExists,
    /// The time to live.
    pub(crate) ttl: Option<Ttl>,
    /// Updates that make the first state.
    pub(crate) supersteps: Vec<Superstep>,
}

impl Read for ThreadCreate {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = Fields::of(value, at, problems)?;
        Some(Self {
            thread_id: fields.optional("thread_id"),
            metadata: fields.optional("metadata").unwrap_or_default(),
            if_exists: fields.optional("if_exists").unwrap_or(IfExists::Raise),
            ttl: fields.optional("ttl"),
            supersteps: fields.optional("supersteps").unwrap_or_default(),
        })
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        component::<Self>(generator)
    }
}

/// Updates that are applied together, when a thread is created.
#[derive(Debug, JsonSchema)]
pub(crate) struct Superstep {
    /// The updates.
    pub(crate) updates: Vec<SuperstepUpdate>,
}

/// One update of a [`Superstep`].
#[derive(Debug, JsonSchema)]
pub(crate) struct SuperstepUpdate {
    /// The update as JSON.
    pub(crate) values: Value,
    /// The node whose update it is.
    pub(crate) as_node: Option<String>,
}

impl Read for Superstep {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = Fields::of(value, at, problems)?;
        Some(Self { updates: fields.required("updates")? })
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        component::<Self>(generator)
    }
}

impl Read for SuperstepUpdate {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = Fields::of(value, at, problems)?;
        if fields.optional::<Value>("command").is_some() {
            fields.refuse("command", "an update of a superstep takes `values` only");
            return None;
        }
        Some(Self { values: fields.raw("values").unwrap_or_default(), as_node: fields.optional("as_node") })
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        component::<Self>(generator)
    }
}

/// The body of `PATCH /threads/{thread}`.
#[derive(Debug, JsonSchema)]
pub(crate) struct ThreadPatch {
    /// The metadata to merge.
    pub(crate) metadata: Object,
    /// The new time to live.
    pub(crate) ttl: Option<Ttl>,
}

impl Read for ThreadPatch {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = Fields::of(value, at, problems)?;
        Some(Self { metadata: fields.optional("metadata").unwrap_or_default(), ttl: fields.optional("ttl") })
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        component::<Self>(generator)
    }
}

/// The filters of `POST /threads/search` and `POST /threads/count`.
#[derive(Debug, Default, JsonSchema)]
pub(crate) struct ThreadFilter {
    /// Only these threads.
    pub(crate) ids: Option<Vec<ThreadId>>,
    /// Only threads with these metadata.
    pub(crate) metadata: Object,
    /// Only threads with these values in their state.
    pub(crate) values: Object,
    /// Only threads with this status.
    pub(crate) status: Option<ThreadStatus>,
}

impl ThreadFilter {
    fn of(fields: &mut Fields<'_>) -> Self {
        Self {
            ids: fields.optional("ids"),
            metadata: fields.optional("metadata").unwrap_or_default(),
            values: fields.optional("values").unwrap_or_default(),
            status: fields.optional("status"),
        }
    }
}

impl Read for ThreadFilter {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        Some(Self::of(&mut Fields::of(value, at, problems)?))
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        component::<Self>(generator)
    }
}

/// The body of `POST /threads/search`.
#[derive(Debug, JsonSchema)]
pub(crate) struct ThreadSearch {
    /// The filters.
    #[schemars(flatten)]
    pub(crate) filter: ThreadFilter,
    /// The maximum number of threads.
    pub(crate) limit: usize,
    /// The number of threads to skip.
    pub(crate) offset: usize,
    /// The field by which the threads are sorted.
    pub(crate) sort_by: ThreadSort,
    /// The order.
    pub(crate) sort_order: SortOrder,
    /// The fields to return. Empty stands for all.
    pub(crate) select: Vec<ThreadField>,
    /// Values to return under a name of their own: paths into the thread, such as `values.messages[-1].content`.
    #[schemars(with = "Object")]
    pub(crate) extract: Vec<(String, ThreadPath)>,
}

/// The maximum number of paths of one search.
const MAX_EXTRACTS: usize = 10;

impl Read for ThreadSearch {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = Fields::of(value, at, problems)?;
        let filter = ThreadFilter::of(&mut fields);
        let (limit, offset) = super::page(&mut fields, 10);
        let sort_by = fields.optional("sort_by").unwrap_or(ThreadSort::UpdatedAt);
        let sort_order = fields.optional("sort_order").unwrap_or(SortOrder::Descending);
        let select = fields.optional("select").unwrap_or_default();
        let mut extract = Vec::new();
        for (alias, path) in fields.optional::<Object>("extract").unwrap_or_default() {
            match path.as_str().map(ThreadPath::parse) {
                Some(Ok(path)) => extract.push((alias, path)),
                Some(Err(problem)) => fields.refuse(&format!("extract.{alias}"), problem),
                None => fields.refuse(&format!("extract.{alias}"), "expected a string"),
            }
        }
        fields.refine("extract", || {
            json_schema!({
                "type": ["object", "null"], "additionalProperties": { "type": "string" }, "maxProperties": MAX_EXTRACTS,
            })
        });
        if extract.len() > MAX_EXTRACTS {
            fields.refuse("extract", format_args!("has {} paths, at most {MAX_EXTRACTS}", extract.len()));
        }
        Some(Self { filter, limit, offset, sort_by, sort_order, select, extract })
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        component::<Self>(generator)
    }
}

/// The body of `POST /threads/prune`.
#[derive(Debug, JsonSchema)]
pub(crate) struct ThreadPrune {
    /// The threads.
    pub(crate) thread_ids: Vec<ThreadId>,
    /// The treatment of the threads.
    pub(crate) strategy: TtlStrategy,
}

impl Read for ThreadPrune {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = Fields::of(value, at, problems)?;
        let thread_ids = fields.required("thread_ids");
        let strategy = fields.optional("strategy").unwrap_or(TtlStrategy::Delete);
        Some(Self { thread_ids: thread_ids?, strategy })
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        component::<Self>(generator)
    }
}
