use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::schema::component;
use super::{
    AssistantId, CronId, Fields, Object, OnCompletion, Place, Problems, Read, RunRequest, SortOrder,
    ThreadId, Timestamp, names,
};

/// A cron, as it is stored and as clients see it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Cron {
    /// The id.
    pub(crate) cron_id: CronId,
    /// The assistant.
    pub(crate) assistant_id: AssistantId,
    /// The thread of the runs. `None` for a thread of its own for each run.
    pub(crate) thread_id: Option<ThreadId>,
    /// The pattern of the schedule.
    pub(crate) schedule: String,
    /// The time zone of the schedule. `None` for UTC.
    pub(crate) timezone: Option<String>,
    /// The time after which no run starts.
    pub(crate) end_time: Option<Timestamp>,
    /// The time of the next run, if there is one.
    pub(crate) next_run_date: Option<Timestamp>,
    /// `false` if no run starts.
    pub(crate) enabled: bool,
    /// The request for the runs.
    pub(crate) payload: Object,
    /// The metadata of the cron and of its runs.
    pub(crate) metadata: Object,
    /// The treatment of the thread of a run.
    pub(crate) on_run_completed: Option<OnCompletion>,
    /// The identity to which the cron belongs.
    #[schemars(with = "Option<String>")]
    pub(crate) user_id: Option<Arc<str>>,
    /// The time of creation.
    pub(crate) created_at: Timestamp,
    /// The time of the last change.
    pub(crate) updated_at: Timestamp,
}

names! {
    /// The fields by which crons are sorted.
    pub(crate) enum CronSort {
        /// By id.
        CronId = "cron_id",
        /// By the assistant.
        AssistantId = "assistant_id",
        /// By the thread.
        ThreadId = "thread_id",
        /// By the time of creation.
        CreatedAt = "created_at",
        /// By the time of the last change.
        UpdatedAt = "updated_at",
        /// By the time of the next run.
        NextRunDate = "next_run_date",
        /// By the end.
        EndTime = "end_time",
    }
}

names! {
    /// The fields of a cron, as `select` names them.
    pub(crate) enum CronField {
        /// The id.
        CronId = "cron_id",
        /// The assistant.
        AssistantId = "assistant_id",
        /// The thread.
        ThreadId = "thread_id",
        /// The pattern.
        Schedule = "schedule",
        /// The time zone.
        Timezone = "timezone",
        /// The end.
        EndTime = "end_time",
        /// The time of the next run.
        NextRunDate = "next_run_date",
        /// `false` if no run starts.
        Enabled = "enabled",
        /// The request for the runs.
        Payload = "payload",
        /// The metadata.
        Metadata = "metadata",
        /// The treatment of the thread of a run.
        OnRunCompleted = "on_run_completed",
        /// The owner.
        UserId = "user_id",
        /// The time of creation.
        CreatedAt = "created_at",
        /// The time of the last change.
        UpdatedAt = "updated_at",
        /// Of older clients. No cron has it.
        Now = "now",
    }
}

/// A time as clients write it: ISO 8601, in UTC if it has no offset.
#[derive(Clone, Copy, Debug)]
struct Moment(Timestamp);

impl Read for Moment {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let read = |text: &str| {
            let time = text.parse::<jiff::Timestamp>().ok().or_else(|| {
                let civil = text.parse::<jiff::civil::DateTime>().ok()?;
                civil.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
            });
            Timestamp::from_micros(u64::try_from(time?.as_microsecond()).ok()?)
        };
        let time = value.as_str().and_then(read);
        if time.is_none() {
            problems.add(at, "expected a time such as `2026-11-24T12:59:18+00:00`");
        }
        time.map(Self)
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time" })
    }
}

/// The keys of a body that are not part of the request for a run.
const OWN_KEYS: [&str; 6] = ["schedule", "timezone", "end_time", "enabled", "on_run_completed", "thread_id"];

fn payload(value: &Value) -> Object {
    let mut payload = value.as_object().cloned().unwrap_or_default();
    payload.retain(|key, value| !OWN_KEYS.contains(&key.as_str()) && !value.is_null());
    payload
}

/// The body of `POST /runs/crons` and `POST /threads/{thread}/runs/crons`.
#[derive(Debug, JsonSchema)]
pub(crate) struct CronCreate {
    /// The pattern.
    pub(crate) schedule: String,
    /// The time zone.
    pub(crate) timezone: Option<String>,
    /// The end.
    pub(crate) end_time: Option<Timestamp>,
    /// `false` if no run starts yet.
    pub(crate) enabled: bool,
    /// The treatment of the thread of a run.
    pub(crate) on_run_completed: Option<OnCompletion>,
    /// The request for the runs.
    #[schemars(flatten)]
    pub(crate) request: RunRequest,
    /// The same as it was sent.
    #[schemars(skip)]
    pub(crate) payload: Object,
}

impl Read for CronCreate {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let payload = payload(&value);
        let mut fields = Fields::of(value.clone(), at, problems)?;
        let schedule = fields.required("schedule");
        let timezone = fields.optional("timezone");
        let end_time = fields.optional::<Moment>("end_time").map(|time| time.0);
        let enabled = fields.optional("enabled").unwrap_or(true);
        let on_run_completed = fields.optional("on_run_completed");
        let request = RunRequest::read(value, at, problems);
        let (schedule, request) = (schedule?, request?);
        Some(Self { schedule, timezone, end_time, enabled, on_run_completed, request, payload })
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        component::<Self>(generator)
    }
}

/// The body of `PATCH /runs/crons/{cron}`.
#[derive(Debug, JsonSchema)]
pub(crate) struct CronPatch {
    /// The new pattern.
    pub(crate) schedule: Option<String>,
    /// The new time zone.
    pub(crate) timezone: Option<String>,
    /// The new end. `Some(None)` removes it.
    pub(crate) end_time: Option<Option<Timestamp>>,
    /// `false` to stop, `true` to continue.
    pub(crate) enabled: Option<bool>,
    /// The new treatment of the thread of a run.
    pub(crate) on_run_completed: Option<OnCompletion>,
    /// The metadata to merge.
    pub(crate) metadata: Object,
    /// The fields of the request to replace.
    #[schemars(skip)]
    pub(crate) payload: Object,
}

impl Read for CronPatch {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let mut payload = payload(&value);
        // The assistant of a cron stays.
        payload.remove("assistant_id");
        payload.remove("metadata");
        let removed = value.get("end_time").is_some_and(Value::is_null);
        let mut fields = Fields::of(value, at, problems)?;
        let end_time = fields.optional::<Moment>("end_time").map(|time| Some(time.0));
        Some(Self {
            schedule: fields.optional("schedule"),
            timezone: fields.optional("timezone"),
            end_time: if removed { Some(None) } else { end_time },
            enabled: fields.optional("enabled"),
            on_run_completed: fields.optional("on_run_completed"),
            metadata: fields.optional("metadata").unwrap_or_default(),
            payload,
        })
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        component::<Self>(generator)
    }
}

/// The filters of `POST /runs/crons/search` and `POST /runs/crons/count`.
#[derive(Debug, Default, JsonSchema)]
pub(crate) struct CronFilter {
    /// Only crons of this assistant.
    pub(crate) assistant_id: Option<AssistantId>,
    /// Only crons of this thread.
    pub(crate) thread_id: Option<ThreadId>,
    /// Only crons that are enabled, or not.
    pub(crate) enabled: Option<bool>,
    /// Only crons with these metadata.
    pub(crate) metadata: Object,
}

impl CronFilter {
    fn of(fields: &mut Fields<'_>) -> Self {
        Self {
            assistant_id: fields.optional("assistant_id"),
            thread_id: fields.optional("thread_id"),
            enabled: fields.optional("enabled"),
            metadata: fields.optional("metadata").unwrap_or_default(),
        }
    }
}

impl Read for CronFilter {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        Some(Self::of(&mut Fields::of(value, at, problems)?))
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        component::<Self>(generator)
    }
}

/// The body of `POST /runs/crons/search`.
#[derive(Debug, JsonSchema)]
pub(crate) struct CronSearch {
    /// The filters.
    #[schemars(flatten)]
    pub(crate) filter: CronFilter,
    /// The maximum number of crons.
    pub(crate) limit: usize,
    /// The number of crons to skip.
    pub(crate) offset: usize,
    /// The field by which the crons are sorted.
    pub(crate) sort_by: CronSort,
    /// The order.
    pub(crate) sort_order: SortOrder,
    /// The fields to return. Empty stands for all.
    pub(crate) select: Vec<CronField>,
}

impl Read for CronSearch {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = Fields::of(value, at, problems)?;
        let filter = CronFilter::of(&mut fields);
        let (limit, offset) = super::page(&mut fields, 10);
        Some(Self {
            filter,
            limit,
            offset,
            sort_by: fields.optional("sort_by").unwrap_or(CronSort::CreatedAt),
            sort_order: fields.optional("sort_order").unwrap_or(SortOrder::Descending),
            select: fields.optional("select").unwrap_or_default(),
        })
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        component::<Self>(generator)
    }
}
