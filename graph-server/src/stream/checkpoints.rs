use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use superstep::checkpoint::CheckpointId;

use super::StreamSpec;
use super::out::Out;
use super::tasks::debug;
use crate::graphs::{ServedEvent, ServedKind, StoredAt, checkpoint_uuid, task_uuid};
use crate::protocol::StreamMode;

/// The events of the modes `checkpoints` and `debug` about checkpoints.
///
/// A checkpoint is announced when it is durable. That may be some supersteps after its state, or just before it. So the one
/// that comes first is kept until the other comes.
#[derive(Default)]
pub(super) struct Checkpoints {
    states: BTreeMap<CheckpointId, Box<RawValue>>,
    announced: Vec<(CheckpointId, Announced)>,
}

/// A checkpoint whose state has not come yet.
struct Announced {
    stored: StoredAt,
    namespace: String,
}

/// The number of states that are kept. With the durability `exit` most of them are never stored.
const KEPT: usize = 64;

impl Checkpoints {
    pub(super) fn convert(&mut self, spec: &StreamSpec, event: &ServedEvent, out: &mut Out<'_>) {
        if !spec.wants(StreamMode::Checkpoints) && !spec.wants(StreamMode::Debug) {
            return;
        }
        match (&event.kind, event.checkpoint) {
            (ServedKind::Values(values), Some(id)) => {
                let Some(place) = self.announced.iter().position(|(announced, _)| *announced == id) else {
                    self.states.insert(id, values.clone());
                    if self.states.len() > KEPT {
                        self.states.pop_first();
                    }
                    return;
                };
                let (_, announced) = self.announced.remove(place);
                push(spec, &announced, Some(values), out);
            }
            (ServedKind::Checkpoint(stored), _) => {
                let announced = Announced { stored: stored.clone(), namespace: out.namespace.to_owned() };
                match self.states.remove(&stored.id) {
                    Some(values) => push(spec, &announced, Some(&*values), out),
                    // The input is not applied yet.
                    None if stored.source == "input" => push(spec, &announced, None, out),
                    None => self.announced.push((stored.id, announced)),
                }
            }
            (ServedKind::Done { values } | ServedKind::Interrupted { values, .. }, reached) => {
                for (of, announced) in std::mem::take(&mut self.announced) {
                    push(spec, &announced, (Some(of) == reached).then_some(&**values), out);
                }
            }
            _ => {}
        }
    }
}

fn push(spec: &StreamSpec, announced: &Announced, values: Option<&RawValue>, out: &mut Out<'_>) {
    let Announced { stored, namespace } = announced;
    let mut out = Out { events: out.events, namespace };
    let payload = payload(spec, stored, values, namespace);
    if spec.wants(StreamMode::Checkpoints) {
        out.push(StreamMode::Checkpoints, "checkpoints", payload.to_string());
    }
    if spec.wants(StreamMode::Debug) {
        out.push(StreamMode::Debug, "debug", debug("checkpoint", stored.step, &payload));
    }
}

fn payload(spec: &StreamSpec, stored: &StoredAt, values: Option<&RawValue>, namespace: &str) -> Value {
    let config = |id| {
        json!({ "configurable": {
            "thread_id": spec.thread_id, "checkpoint_ns": namespace, "checkpoint_id": checkpoint_uuid(id),
        } })
    };
    let mut metadata = spec.metadata.clone();
    for (key, value) in [
        ("source", json!(stored.source)),
        ("step", json!(stored.step)),
        ("parents", json!({})),
        ("thread_id", json!(spec.thread_id)),
        ("run_id", json!(spec.run_id)),
    ] {
        metadata.insert(key.to_owned(), value);
    }
    let names: Vec<&str> =
        stored.next.iter().map(|node| if node == "START" { "__start__" } else { node.as_str() }).collect();
    let tasks: Vec<Value> = names
        .iter()
        .enumerate()
        .map(|(index, node)| {
            let id = task_uuid(&format!("{}:{index}", stored.id));
            json!({ "id": id, "name": node, "interrupts": [], "state": null })
        })
        .collect();
    json!({
        "config": config(stored.id),
        "parent_config": stored.parent.map(config),
        "values": values.map_or_else(|| json!({}), |values| json!(values)),
        "metadata": metadata,
        "next": names,
        "tasks": tasks,
    })
}
