use std::collections::HashMap;

use serde_json::json;
use superstep::checkpoint::CheckpointId;

use super::sender::Sender;
use crate::graphs::{ServedEvent, ServedKind, StoredAt, checkpoint_uuid};
use crate::thread_stream::Channel;

/// The events of the channel `checkpoints`. Each is sent just before the state of its checkpoint.
///
/// The state may come before its checkpoint is durable. Then the event follows from the state before it.
#[derive(Debug, Default)]
pub(super) struct CheckpointChain {
    /// By namespace, the latest checkpoint, and its step if it is known.
    latest: HashMap<Vec<String>, (CheckpointId, Option<i64>)>,
    /// Checkpoints that were announced before their states.
    announced: Vec<StoredAt>,
    first: First,
}

/// The first state of the run. Its parent is the checkpoint of the input, which has no state.
#[derive(Debug, Default)]
enum First {
    /// The parent is known, or will not be known in time.
    #[default]
    Passed,
    Expected,
    /// The events wait until the parent is known.
    Waits(Waiting),
}

#[derive(Debug)]
struct Waiting {
    id: CheckpointId,
    step: i64,
    /// The place of its event among those that were not sent yet.
    place: usize,
}

impl CheckpointChain {
    /// The run begins with an input, whose checkpoint is announced.
    pub(super) fn expect_input(&mut self) {
        self.first = First::Expected;
    }

    /// The run continues a checkpoint.
    pub(super) fn continue_from(&mut self, base: CheckpointId) {
        if matches!(self.first, First::Passed) {
            self.latest.insert(Vec::new(), (base, None));
        }
    }

    /// Returns `true` if the events have to wait.
    pub(super) fn waits(&self) -> bool {
        matches!(self.first, First::Waits(_))
    }

    pub(super) fn convert(&mut self, namespace: &[String], event: &ServedEvent, sender: &mut Sender) {
        match (&event.kind, event.checkpoint) {
            (ServedKind::Checkpoint(stored), _) if stored.source == "input" && namespace.is_empty() => {
                match std::mem::take(&mut self.first) {
                    First::Waits(Waiting { id, step, place }) => {
                        sender.replace(place, data(id, Some(stored.id), step, "loop"));
                    }
                    First::Expected => {
                        self.latest.insert(Vec::new(), (stored.id, Some(stored.step)));
                    }
                    First::Passed => {}
                }
            }
            (ServedKind::Checkpoint(stored), _) => {
                let latest = self.latest.get(namespace);
                if latest.is_none_or(|(id, _)| *id < stored.id) {
                    self.announced.push(stored.clone());
                }
            }
            (ServedKind::Values(_), Some(id)) => {
                let place = self.announced.iter().position(|stored| stored.id == id);
                let announced = place.map(|place| self.announced.swap_remove(place));
                let before = self.latest.get(namespace).copied().filter(|(before, _)| *before != id);
                let (parent, step) = match &announced {
                    Some(stored) => (stored.parent, stored.step),
                    None => {
                        let next = before.and_then(|(_, step)| step).map(|step| step + 1);
                        let own = || i64::try_from(event.superstep).unwrap_or_default();
                        (before.map(|(id, _)| id), next.unwrap_or_else(own))
                    }
                };
                let source = announced.as_ref().map_or("loop", |stored| &stored.source);
                self.latest.insert(namespace.to_vec(), (id, Some(step)));
                let place = sender.push(Channel::Checkpoints, namespace, data(id, parent, step, source));
                if namespace.is_empty() {
                    self.first = match std::mem::take(&mut self.first) {
                        First::Expected if parent.is_none() => First::Waits(Waiting { id, step, place }),
                        _ => First::Passed,
                    };
                }
            }
            _ => {}
        }
    }
}

fn data(id: CheckpointId, parent: Option<CheckpointId>, step: i64, source: &str) -> String {
    let mut data = json!({ "id": checkpoint_uuid(id), "step": step, "source": source });
    if let (Some(parent), Some(data)) = (parent, data.as_object_mut()) {
        data.insert("parent_id".to_owned(), checkpoint_uuid(parent).into());
    }
    data.to_string()
}
