/// Declares an enum whose values are fixed strings of the protocol.
///
/// `names! { /// A status. pub(crate) enum Status { /// Nothing runs. Idle = "idle" } }` makes `Status::name`,
/// `Status::from_name`, `Serialize`, `Deserialize` and [`Read`](super::Read).
macro_rules! names {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident { $($(#[$about:meta])* $value:ident = $text:literal,)+ }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        $vis enum $name { $($(#[$about])* #[serde(rename = $text)] $value,)+ }

        impl $name {
            /// Every value, in the order of the protocol.
            pub(crate) const ALL: &'static [Self] = &[$(Self::$value),+];

            /// Returns the string of the protocol.
            pub(crate) const fn name(self) -> &'static str {
                match self { $(Self::$value => $text),+ }
            }

            /// Returns the value with this string.
            pub(crate) fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.name() == name)
            }
        }

        impl $crate::protocol::Read for $name {
            fn read(
                value: serde_json::Value,
                at: &$crate::protocol::Place<'_>,
                problems: &mut $crate::protocol::Problems,
            ) -> Option<Self> {
                let names = || Self::ALL.iter().map(|value| value.name());
                $crate::protocol::read_name(&value, names(), at, problems).and_then(|name| Self::from_name(name))
            }

            fn schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                generator.subschema_for::<Self>()
            }
        }
    };
}

pub(crate) use names;
