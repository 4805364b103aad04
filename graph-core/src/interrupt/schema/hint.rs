/// The method of the deserializer that a type has called. It decides which kinds of JSON the type can read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Hint {
    Any,
    Ignored,
    Bool,
    /// The bounds of an integer type; `None` if JSON cannot exceed them.
    Integer(Option<i64>, Option<u64>),
    Float,
    Text,
    Char,
    Bytes,
    Unit,
    Option,
    List,
    Tuple(usize),
    Map,
    Struct(&'static str, &'static [&'static str]),
    Enum(&'static [&'static str]),
    Identifier,
    UnitVariant,
}

/// One step from a type into a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    Some,
    Item(usize),
    Field(&'static str),
    Value(&'static str),
    Variant(&'static str),
    /// The content of a variant of an adjacently tagged enum.
    Content(Tag, &'static str),
}

/// The key that names the variant of an adjacently tagged enum, and the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tag {
    pub(super) key: &'static str,
    pub(super) variant: &'static str,
}
