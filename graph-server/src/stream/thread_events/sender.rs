use serde_json::Value;

use crate::thread_stream::{Channel, NewEvent};

/// A list of events of one run, to which events are appended with their ids.
#[derive(Debug)]
pub(in crate::stream) struct Sender {
    run_id: String,
    /// The number of times that a server has executed the run.
    epoch: u64,
    count: u64,
    events: Vec<NewEvent>,
}

impl Sender {
    pub(in crate::stream) fn new(run_id: String, epoch: u64) -> Self {
        Self { run_id, epoch, count: 0, events: Vec::new() }
    }

    /// Takes the events.
    pub(in crate::stream) fn take(&mut self) -> Vec<NewEvent> {
        std::mem::take(&mut self.events)
    }

    /// Replaces the data of an event that was not taken yet.
    pub(in crate::stream) fn replace(&mut self, place: usize, data: String) {
        if let Some(event) = self.events.get_mut(place) {
            event.data = data;
        }
    }

    /// Appends an event, and returns its place in the list. The data is JSON.
    pub(in crate::stream) fn push(&mut self, channel: Channel, namespace: &[String], data: String) -> usize {
        let event_id = self.next_id();
        let namespace = namespace.to_vec();
        self.events.push(NewEvent { channel, namespace, event_id, node: None, custom_name: None, data });
        self.events.len() - 1
    }

    /// Appends an event of a node.
    pub(in crate::stream) fn push_of(
        &mut self,
        channel: Channel,
        namespace: &[String],
        node: &str,
        data: &Value,
    ) {
        let event_id = self.next_id();
        let (namespace, node) = (namespace.to_vec(), Some(node.to_owned()));
        let data = data.to_string();
        self.events.push(NewEvent { channel, namespace, event_id, node, custom_name: None, data });
    }

    /// Appends a custom event with a name.
    pub(in crate::stream) fn push_custom(
        &mut self,
        namespace: &[String],
        node: &str,
        name: Option<String>,
        data: &Value,
    ) {
        self.push_of(Channel::Custom, namespace, node, data);
        if let Some(event) = self.events.last_mut() {
            event.custom_name = name;
        }
    }

    /// Appends an event that happens once in a run, under an id that is made of its parts. Clients read the id of the run
    /// out of it.
    pub(in crate::stream) fn push_once(
        &mut self,
        channel: Channel,
        namespace: &[String],
        key: &str,
        data: &Value,
    ) {
        let kind = if channel == Channel::Input { "input" } else { "lc" };
        let event_id = format!("synth:{}:{kind}|{}|{key}", self.run_id, namespace.join("|"));
        let (namespace, data) = (namespace.to_vec(), data.to_string());
        self.events.push(NewEvent { channel, namespace, event_id, node: None, custom_name: None, data });
    }

    fn next_id(&mut self) -> String {
        self.count += 1;
        format!("{}:{}.{}", self.run_id, self.epoch, self.count)
    }
}
