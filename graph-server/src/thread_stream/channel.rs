use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::Value;

use crate::protocol::{Place, Problems, Read, names};

names! {
    /// A kind of events of a thread.
    pub(crate) enum Channel {
        /// The whole state after each superstep.
        Values = "values",
        /// The update of each node.
        Updates = "updates",
        /// Messages, in content blocks.
        Messages = "messages",
        /// The calls of tools.
        Tools = "tools",
        /// Values that nodes emit.
        Custom = "custom",
        /// The start and the end of runs and subgraph calls.
        Lifecycle = "lifecycle",
        /// Questions.
        Input = "input",
        /// The start and the end of each task.
        Tasks = "tasks",
        /// The checkpoint of each state.
        Checkpoints = "checkpoints",
    }
}

impl Channel {
    /// Returns the name of the events of this channel.
    pub(crate) fn method(self) -> &'static str {
        match self {
            Self::Input => "input.requested",
            other => other.name(),
        }
    }
}

/// A channel in a subscription: a kind of events, or the custom events of one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ChannelName {
    /// All events of a channel.
    All(Channel),
    /// `custom:<name>`.
    Custom(String),
}

impl Read for ChannelName {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let text = value.as_str().unwrap_or_default();
        if let Some(name) = text.strip_prefix("custom:").filter(|name| !name.is_empty()) {
            return Some(Self::Custom(name.to_owned()));
        }
        let channel = Channel::from_name(text);
        if channel.is_none() {
            let names: Vec<_> = Channel::ALL.iter().map(|channel| format!("`{}`", channel.name())).collect();
            problems.add(at, format_args!("expected one of {}, or `custom:` and a name", names.join(", ")));
        }
        channel.map(Self::All)
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        let names = Channel::ALL.iter().map(|channel| channel.name()).collect::<Vec<_>>();
        json_schema!({ "anyOf": [{ "enum": names }, { "type": "string", "pattern": "^custom:.+$" }] })
    }
}
