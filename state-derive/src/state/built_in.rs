//! The reducers of the library.

/// The names of built-in reducers in the attribute, and their types.
pub(super) const BUILT_IN: [(&str, &str); 8] = [
    ("append", "Append"),
    ("add", "Add"),
    ("add_messages", "AddMessages"),
    ("merge", "Merge"),
    ("union", "Union"),
    ("min", "Min"),
    ("max", "Max"),
    ("any_value", "AnyValue"),
];

pub(super) fn is_reducer(name: &str) -> bool {
    BUILT_IN.iter().any(|(built_in, _)| *built_in == name)
}
