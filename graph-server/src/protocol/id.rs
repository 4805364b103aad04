use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::{Place, Problems, Read};

macro_rules! ids {
    ($($(#[$meta:meta])* $name:ident;)+) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub(crate) struct $name(pub(crate) Uuid);

        impl $name {
            /// Reads an id. Any notation of a UUID is accepted.
            pub(crate) fn parse(text: &str) -> Option<Self> {
                Uuid::try_parse(text).ok().map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "format": "uuid" })
            }
        }

        impl Read for $name {
            fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
                let id = value.as_str().and_then(Self::parse);
                if id.is_none() {
                    problems.add(at, "expected a UUID");
                }
                id
            }

            fn schema(generator: &mut SchemaGenerator) -> Schema {
                generator.subschema_for::<Self>()
            }
        }
    )+};
}

ids! {
    /// The id of a thread. It is the name of the thread in the checkpointer.
    ThreadId;
    /// The id of a run.
    RunId;
    /// The id of an assistant.
    AssistantId;
    /// The id of a cron.
    CronId;
}

impl ThreadId {
    /// Creates an id that sorts by its time and cannot be guessed.
    pub(crate) fn new() -> Self {
        Self(Uuid::now_v7())
    }
}

impl RunId {
    /// Creates an id that sorts by its time and cannot be guessed.
    pub(crate) fn new() -> Self {
        Self(Uuid::now_v7())
    }
}

impl CronId {
    /// Creates an id that cannot be guessed.
    pub(crate) fn new() -> Self {
        Self(Uuid::new_v4())
    }
}

impl AssistantId {
    /// Creates an id that cannot be guessed.
    pub(crate) fn new() -> Self {
        Self(Uuid::new_v4())
    }

    /// Returns the id of the assistant that a graph has by default. Clients compute the same id.
    pub(crate) fn of_graph(graph: &str) -> Self {
        Self(Uuid::new_v5(&Uuid::from_u128(0x6ba7b821_9dad_11d1_80b4_00c04fd430c8), graph.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_assistants_have_the_ids_that_clients_compute() {
        assert_eq!(AssistantId::of_graph("agent").to_string(), "fe096781-5601-53d2-b2f6-0d3403f7e9ca");
    }

    #[test]
    fn thread_ids_sort_by_time() {
        let ids: Vec<_> = (0..1_000).map(|_| ThreadId::new().to_string()).collect();
        assert!(ids.is_sorted());
    }
}
