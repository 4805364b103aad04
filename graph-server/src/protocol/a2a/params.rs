use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::Value;

use super::{Message, TaskState};
use crate::protocol::schema::component;
use crate::protocol::{Fields, Object, Place, Problems, Read, ThreadId, Timestamp};

/// The parameters of a message.
#[derive(Debug, JsonSchema)]
pub(crate) struct SendParams {
    pub(crate) message: Message,
    /// The task that the message continues.
    pub(crate) task: Option<String>,
    /// The thread.
    pub(crate) context: Option<ThreadId>,
    /// The number of messages that the response has at most.
    pub(crate) history: Option<u64>,
    /// `true` to respond when the task has stopped.
    pub(crate) waits: bool,
    /// `true` if the client wants notifications.
    pub(crate) notifies: bool,
}

impl Read for SendParams {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = Fields::of(value, at, problems)?;
        let Configuration { history, waits, notifies } = fields.optional("configuration").unwrap_or_default();
        let Addressed { message, task, context } = fields.required("message")?;
        Some(Self { message, task, context, history, waits, notifies })
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        component::<Self>(generator)
    }
}

/// A message with its task and its context.
#[derive(JsonSchema)]
struct Addressed {
    message: Message,
    task: Option<String>,
    context: Option<ThreadId>,
}

impl Read for Addressed {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = Fields::of(value, at, problems)?;
        // Version 1.0 has no null: an absent string may be sent as an empty one.
        let text =
            |fields: &mut Fields<'_>, name| fields.optional::<String>(name).filter(|text| !text.is_empty());
        let task = text(&mut fields, "taskId");
        let context = text(&mut fields, "contextId");
        let parsed = context.as_deref().and_then(ThreadId::parse);
        if context.is_some() && parsed.is_none() {
            fields.refuse(
                "contextId",
                "expected the id of a context that this server has given, or a new UUID",
            );
        }
        let message = Message::of(&mut fields)?;
        Some(Self { message, task, context: parsed })
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        component::<Self>(generator)
    }
}

#[derive(JsonSchema)]
struct Configuration {
    history: Option<u64>,
    waits: bool,
    notifies: bool,
}

impl Default for Configuration {
    fn default() -> Self {
        Self { history: None, waits: true, notifies: false }
    }
}

impl Read for Configuration {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = Fields::of(value, at, problems)?;
        // Version 0.3 says `blocking`, version 1.0 the opposite.
        let blocking = fields.optional::<bool>("blocking").unwrap_or(true);
        let returns = fields.optional::<bool>("returnImmediately").unwrap_or(false);
        let notifies = ["pushNotificationConfig", "taskPushNotificationConfig"]
            .map(|name| fields.optional::<Object>(name).is_some());
        Some(Self {
            history: fields.optional("historyLength"),
            waits: blocking && !returns,
            notifies: notifies.contains(&true),
        })
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        component::<Self>(generator)
    }
}

/// The parameters of a method for one task.
#[derive(Debug, JsonSchema)]
pub(crate) struct TaskParams {
    pub(crate) id: String,
    pub(crate) history: Option<u64>,
}

impl Read for TaskParams {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = Fields::of(value, at, problems)?;
        let id = fields.required("id");
        Some(Self { history: fields.optional("historyLength"), id: id? })
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        component::<Self>(generator)
    }
}

/// The parameters of a list of tasks.
#[derive(Debug, JsonSchema)]
pub(crate) struct ListParams {
    pub(crate) context: Option<ThreadId>,
    #[schemars(with = "Value")]
    pub(crate) state: Option<TaskState>,
    /// Only tasks whose state has changed at this time or later.
    pub(crate) since: Option<Timestamp>,
    pub(crate) page_size: usize,
    /// The token of the page. `None` for the first one.
    pub(crate) token: Option<String>,
    pub(crate) history: Option<u64>,
    pub(crate) artifacts: bool,
}

impl Read for ListParams {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = Fields::of(value, at, problems)?;
        let text =
            |fields: &mut Fields<'_>, name| fields.optional::<String>(name).filter(|text| !text.is_empty());
        let context = text(&mut fields, "contextId");
        let parsed = context.as_deref().and_then(ThreadId::parse);
        if context.is_some() && parsed.is_none() {
            fields.refuse("contextId", "expected the id of a context");
        }
        let token = text(&mut fields, "pageToken");
        let time = text(&mut fields, "statusTimestampAfter");
        let since = time.as_deref().and_then(Timestamp::of_utc);
        if time.is_some() && since.is_none() {
            fields.refuse("statusTimestampAfter", "expected a time such as `2026-11-24T12:59:18.434Z`");
        }
        let page_size = fields.integer("pageSize", 1..=100, 50);
        Some(Self {
            context: parsed,
            state: fields.optional("status"),
            since,
            page_size: usize::try_from(page_size).unwrap_or(usize::MAX),
            token,
            history: fields.optional("historyLength"),
            artifacts: fields.optional("includeArtifacts").unwrap_or_default(),
        })
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        component::<Self>(generator)
    }
}
