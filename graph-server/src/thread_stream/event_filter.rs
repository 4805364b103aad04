use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::Value;

use super::{Channel, ChannelName, ThreadEvent};
use crate::protocol::schema::component;
use crate::protocol::{Fields, Place, Problems, Read};

/// The events that a client wants of a thread.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema)]
pub(crate) struct EventFilter {
    /// The kinds of events.
    #[schemars(with = "Vec<String>")]
    channels: Vec<ChannelName>,
    /// Prefixes of namespaces. Empty for all namespaces.
    namespaces: Vec<Vec<String>>,
    /// The maximum number of segments after a prefix.
    depth: Option<u64>,
}

/// A request for the events of a thread.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema)]
pub(crate) struct Subscription {
    #[schemars(flatten)]
    pub(crate) filter: EventFilter,
    /// The number of the last event that the client has seen. Without it, the client wants every event that is kept.
    pub(crate) since: Option<u64>,
}

impl Read for Subscription {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = Fields::of(value, at, problems)?;
        let channels = fields.required::<Vec<ChannelName>>("channels");
        if channels.as_ref().is_some_and(Vec::is_empty) {
            fields.refuse("channels", "expected at least one channel");
        }
        let filter = EventFilter {
            channels: channels?,
            namespaces: fields.optional("namespaces").unwrap_or_default(),
            depth: fields.optional("depth"),
        };
        Some(Self { filter, since: fields.optional("since") })
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        component::<Self>(generator)
    }
}

impl EventFilter {
    /// Returns `true` if the client wants the event.
    pub(crate) fn matches(&self, event: &ThreadEvent) -> bool {
        self.has_channel(event) && self.has_namespace(&event.namespace)
    }

    fn has_channel(&self, event: &ThreadEvent) -> bool {
        self.channels.iter().any(|channel| match channel {
            ChannelName::All(channel) => *channel == event.channel,
            ChannelName::Custom(name) => {
                event.channel == Channel::Custom && event.custom_name.as_ref() == Some(name)
            }
        })
    }

    fn has_namespace(&self, namespace: &[String]) -> bool {
        self.namespaces.is_empty()
            || self.namespaces.iter().any(|prefix| {
                let Some(below) = namespace.len().checked_sub(prefix.len()) else { return false };
                self.depth.is_none_or(|depth| u64::try_from(below).is_ok_and(|below| below <= depth))
                    && prefix.iter().zip(namespace).all(|(wanted, segment)| is_segment(segment, wanted))
            })
    }
}

/// Returns `true` for the same segment. A name without a task stands for the node's calls: `child` for `child:1f0…`.
fn is_segment(segment: &str, wanted: &str) -> bool {
    segment == wanted || (!wanted.contains(':') && segment.split(':').next() == Some(wanted))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::protocol::read_body;
    use crate::thread_stream::NewEvent;

    fn event(channel: Channel, namespace: &[&str], custom_name: Option<&str>) -> ThreadEvent {
        let namespace = namespace.iter().map(|&segment| segment.to_owned()).collect();
        let new =
            NewEvent { custom_name: custom_name.map(str::to_owned), ..NewEvent::of(channel, namespace) };
        ThreadEvent::of(new, 1)
    }

    #[track_caller]
    fn check(filter: Value, event: &ThreadEvent, expected: bool) {
        let found: Subscription = read_body(filter.clone()).unwrap();
        assert_eq!(found.filter.matches(event), expected, "{filter}");
    }

    #[test]
    fn channels_choose_events() {
        let named = event(Channel::Custom, &[], Some("progress"));
        check(json!({ "channels": ["values", "custom"] }), &named, true);
        check(json!({ "channels": ["custom:progress"] }), &named, true);
        check(json!({ "channels": ["custom:other", "values"] }), &named, false);
        let question = event(Channel::Input, &[], None);
        check(json!({ "channels": ["input"] }), &question, true);
        check(json!({ "channels": ["lifecycle"] }), &question, false);
    }

    #[test]
    fn namespaces_are_prefixes_with_a_depth() {
        let nested = event(Channel::Values, &["child:1", "leaf:2"], None);
        for (namespaces, depth, expected) in [
            (json!(null), json!(null), true),
            (json!([]), json!(0), true),
            (json!([[]]), json!(null), true),
            (json!([[]]), json!(1), false),
            (json!([[]]), json!(2), true),
            (json!([["child"]]), json!(1), true),
            (json!([["child:1"]]), json!(1), true),
            (json!([["child:2"], ["other"]]), json!(null), false),
            (json!([["child", "leaf"]]), json!(0), true),
            (json!([["child", "leaf", "deeper"]]), json!(null), false),
        ] {
            check(
                json!({ "channels": ["values"], "namespaces": namespaces, "depth": depth }),
                &nested,
                expected,
            );
        }
    }

    #[test]
    fn requests_name_every_problem() {
        let Err(problems) =
            read_body::<Subscription>(json!({ "channels": ["valuess"], "since": -1, "depth": "x" }))
        else {
            panic!("it has problems")
        };
        let text = problems.to_string();
        assert!(text.contains("`channels[0]`") && text.contains("`custom:`"), "{text}");
        let Err(problems) = read_body::<Subscription>(json!({ "channels": [], "since": -1, "depth": "x" }))
        else {
            panic!("it has problems")
        };
        let text = problems.to_string();
        for place in ["channels", "since", "depth"] {
            assert!(text.contains(&format!("`{place}`")), "{text}");
        }
    }
}
