use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::Channel;

/// An event of a thread, before it has its number.
#[derive(Clone, Debug)]
pub(crate) struct NewEvent {
    pub(crate) channel: Channel,
    pub(crate) namespace: Vec<String>,
    /// The id, which is the same if the event is sent again.
    pub(crate) event_id: String,
    /// The node, for events of tasks.
    pub(crate) node: Option<String>,
    /// The name of a custom event.
    pub(crate) custom_name: Option<String>,
    /// The data, as JSON on one line.
    pub(crate) data: String,
}

/// An event of a thread as it is sent to clients.
#[derive(Debug)]
pub(crate) struct ThreadEvent {
    /// Its number in the thread.
    pub(crate) seq: u64,
    pub(crate) channel: Channel,
    pub(crate) namespace: Vec<String>,
    pub(crate) custom_name: Option<String>,
    /// The event with its envelope, as JSON on one line.
    pub(crate) text: String,
}

impl NewEvent {
    #[cfg(test)]
    pub(crate) fn of(channel: Channel, namespace: Vec<String>) -> Self {
        let data = "null".to_owned();
        Self { channel, namespace, event_id: String::new(), node: None, custom_name: None, data }
    }
}

impl ThreadEvent {
    /// Gives an event its number.
    pub(crate) fn of(event: NewEvent, seq: u64) -> Self {
        let NewEvent { channel, namespace, event_id, node, custom_name, data } = event;
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        let node = node.map(|node| format!(",\"node\":{}", Value::String(node))).unwrap_or_default();
        // The data is JSON already, and may be long.
        let text = format!(
            "{{\"type\":\"event\",\"event_id\":{},\"seq\":{seq},\"method\":\"{}\",\"params\":{{\"namespace\":{},\
             \"timestamp\":{now}{node},\"data\":{data}}}}}",
            Value::String(event_id),
            channel.method(),
            json!(namespace),
        );
        Self { seq, channel, namespace, custom_name, text }
    }

    pub(super) fn size(&self) -> usize {
        self.text.len() + size_of::<Self>()
    }
}
