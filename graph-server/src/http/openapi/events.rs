//! The forms of server-sent events: `event` is the name, `data` is JSON on one line, `id` is for clients that come back.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Value, json};

use super::super::thread_json::InterruptJson;
use crate::protocol::{RpcResponse, RunError};
use crate::thread_stream::Channel;

/// Adds the forms of an event as a component, and returns a reference to it.
fn component(generator: &mut SchemaGenerator, name: &str, about: &str, forms: Vec<Value>) -> Schema {
    let schema = json!({ "description": about, "anyOf": forms });
    generator.definitions_mut().insert(name.to_owned(), schema);
    Schema::new_ref(format!("#/components/schemas/{name}"))
}

/// A form of an event: its name as a pattern, and the schema of its data.
fn form(pattern: &str, about: &str, data: impl Into<Value>) -> Value {
    json!({
        "type": "object",
        "description": about,
        "properties": {
            "event": { "type": "string", "pattern": format!("^{pattern}$") },
            "data": data.into(),
            "id": { "type": "string" },
        },
        "required": ["event", "data"],
    })
}

/// An event of a mode, whose name ends with the namespace of a subgraph if the event is of one.
fn of_mode(name: &str, about: &str, data: impl Into<Value>) -> Value {
    form(&format!(r"{name}(\|.*)?"), about, data)
}

/// The schema of an object with these fields, and with others.
fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let names = fields.each_ref().map(|(name, _)| *name);
    let properties: serde_json::Map<_, _> =
        fields.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
    json!({ "type": "object", "properties": properties, "required": names.as_slice() })
}

fn kind(name: &str) -> Value {
    json!({ "type": name })
}

fn reference<T: JsonSchema>(generator: &mut SchemaGenerator) -> Value {
    generator.subschema_for::<T>().to_value()
}

fn run_metadata() -> Value {
    form(
        "metadata",
        "The beginning of a run.",
        object([
            ("run_id", json!({ "type": "string", "format": "uuid" })),
            ("attempt", json!({ "type": "integer", "minimum": 1 })),
        ]),
    )
}

/// Returns the forms of the events of a run.
fn run_forms(generator: &mut SchemaGenerator) -> Vec<Value> {
    let interrupts = json!({ "type": "array", "items": reference::<InterruptJson>(generator) });
    let text = || kind("string");
    let task = object([("id", text()), ("name", text())]);
    let checkpoint = object([
        ("config", kind("object")),
        ("parent_config", json!({ "type": ["object", "null"] })),
        ("values", kind("object")),
        ("metadata", kind("object")),
        ("next", json!({ "type": "array", "items": text() })),
        ("tasks", kind("array")),
    ]);
    let debug = object([
        ("step", kind("integer")),
        ("timestamp", json!({ "type": "string", "format": "date-time" })),
        ("type", json!({ "enum": ["checkpoint", "task", "task_result"] })),
        ("payload", kind("object")),
    ]);
    let astream = object([
        ("event", text()),
        ("name", text()),
        ("run_id", text()),
        ("parent_ids", kind("array")),
        ("tags", kind("array")),
        ("metadata", kind("object")),
        ("data", kind("object")),
    ]);
    let tool = object([("event", text()), ("toolCallId", text()), ("name", json!({}))]);
    let state = json!({ "type": "object", "properties": { "__interrupt__": interrupts } });
    vec![
        run_metadata(),
        of_mode("values", "The state, with the questions if the run has stopped at some.", state.clone()),
        of_mode("updates", "The update of a node, by its name. `__interrupt__` has the questions.", state),
        of_mode(
            "messages",
            "`messages-tuple`: a part of a message or a whole one, and its metadata.",
            json!({ "type": "array", "prefixItems": [kind("object"), kind("object")], "minItems": 2, "maxItems": 2 }),
        ),
        of_mode("messages/metadata", "The metadata of a message, by its id.", kind("object")),
        of_mode("messages/(partial|complete)", "A message so far, or a whole one.", kind("array")),
        of_mode("custom", "A value that a node has emitted.", json!({})),
        of_mode("tasks", "The start or the result of a task.", task),
        of_mode("checkpoints", "A checkpoint that is stored.", checkpoint),
        of_mode("debug", "A task or a checkpoint.", debug),
        of_mode("events", "An event of a node or a model, as `astream_events` has it.", astream),
        of_mode("tools", "The start or the end of a call of a tool.", tool),
        form(
            "error",
            "The run has failed, or the client has missed events.",
            reference::<RunError>(generator),
        ),
    ]
}

/// Returns the schema of an event of a run.
pub(super) fn run_event(generator: &mut SchemaGenerator) -> Schema {
    let forms = run_forms(generator);
    component(generator, "RunEvent", "An event of a run, as `stream_mode` chooses them.", forms)
}

/// Returns the schema of an event of the classic stream of a thread.
pub(super) fn thread_event(generator: &mut SchemaGenerator) -> Schema {
    let mut forms = run_forms(generator);
    forms.push(form(
        "metadata",
        "The end of a run.",
        object([
            ("status", json!({ "const": "run_done" })),
            ("run_id", json!({ "type": "string", "format": "uuid" })),
        ]),
    ));
    forms.push(form("state_update", "The state of the thread has changed.", kind("object")));
    component(
        generator,
        "ThreadStreamEvent",
        "An event of a run of the thread, or of the thread itself.",
        forms,
    )
}

/// Returns the schema of an event of the second version of the protocol.
pub(super) fn protocol_event(generator: &mut SchemaGenerator) -> Schema {
    let names = Channel::ALL.iter().map(|channel| channel.method().replace('.', r"\.")).collect::<Vec<_>>();
    let methods = Channel::ALL.iter().map(|channel| channel.method()).collect::<Vec<_>>();
    let params = json!({
        "type": "object",
        "properties": {
            "namespace": { "type": "array", "items": { "type": "string" } },
            "timestamp": { "type": "integer", "description": "Milliseconds since 1970." },
            "node": { "type": "string" },
            "data": {},
        },
        "required": ["namespace", "timestamp", "data"],
    });
    let data = object([
        ("type", json!({ "const": "event" })),
        ("event_id", json!({ "type": "string", "description": "The same if the event is sent again." })),
        ("seq", json!({ "type": "integer", "description": "The number of the event in the thread." })),
        ("method", json!({ "enum": methods })),
        ("params", params),
    ]);
    let event = form(&format!("({})", names.join("|")), "An event. Its id is its number.", data);
    component(
        generator,
        "ThreadProtocolEvent",
        "An event of a thread, as `channels` chooses them.",
        vec![event],
    )
}

/// Returns the schema of an event that is a response of JSON-RPC.
pub(super) fn rpc_event(generator: &mut SchemaGenerator) -> Schema {
    let data = reference::<RpcResponse<'_>>(generator);
    component(
        generator,
        "RpcEvent",
        "A part of the response of a call.",
        vec![form("message", "A response.", data)],
    )
}
