use std::fmt::Display;

use serde::de;

/// The error with which a probe ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stop {
    pub(super) reason: Reason,
    /// The struct whose visitor failed first, if a field was missing there.
    pub(super) of: Option<StructKey>,
}

/// The reason why a visitor refused a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    MissingField(&'static str),
    UnknownField,
    UnknownVariant(&'static [&'static str]),
    InvalidType,
    InvalidLength,
    Other,
}

/// Identifies a struct: its name and the address of its field list.
pub(super) type StructKey = (&'static str, usize);

impl Stop {
    pub(super) const OTHER: Self = Self { reason: Reason::Other, of: None };

    fn because(reason: Reason) -> Self {
        Self { reason, of: None }
    }

    /// Names the struct whose field is missing, unless a struct inside it has been named.
    pub(super) fn within(mut self, key: StructKey) -> Self {
        if let (Reason::MissingField(_), None) = (self.reason, self.of) {
            self.of = Some(key);
        }
        self
    }
}

impl Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the probe of a type ended")
    }
}

impl std::error::Error for Stop {}

impl de::Error for Stop {
    fn custom<T: Display>(_: T) -> Self {
        Self::OTHER
    }

    fn invalid_type(_: de::Unexpected<'_>, _: &dyn de::Expected) -> Self {
        Self::because(Reason::InvalidType)
    }

    fn invalid_length(_: usize, _: &dyn de::Expected) -> Self {
        Self::because(Reason::InvalidLength)
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        Self::because(Reason::UnknownVariant(expected))
    }

    fn unknown_field(_: &str, _: &'static [&'static str]) -> Self {
        Self::because(Reason::UnknownField)
    }

    fn missing_field(field: &'static str) -> Self {
        Self::because(Reason::MissingField(field))
    }
}
