use std::fmt::Write;

use serde_path_to_error::{Path, Segment};
pub(super) use superstep_store::payload::push_key;

/// Returns `$.key`.
pub(super) fn of_key(key: &str) -> String {
    let mut path = "$".to_owned();
    push_key(&mut path, key);
    path
}

/// Returns `$.key`, followed by the path inside its value.
pub(super) fn inside(key: &str, path: &Path) -> String {
    let mut text = of_key(key);
    for segment in path {
        match segment {
            Segment::Seq { index } => {
                let _ = write!(text, "[{index}]");
            }
            Segment::Map { key } => push_key(&mut text, key),
            Segment::Enum { variant } => push_key(&mut text, variant),
            Segment::Unknown => {}
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_are_not_plain_words_are_quoted() {
        for (key, expected) in [
            ("notes", "$.notes"),
            ("größe", "$.größe"),
            ("last-seen", "$.last-seen"),
            ("a b", r#"$["a b"]"#),
            ("$overwrite", r#"$["$overwrite"]"#),
            ("say \"hi\"", r#"$["say \"hi\""]"#),
            ("1st", r#"$["1st"]"#),
            ("", r#"$[""]"#),
        ] {
            assert_eq!(of_key(key), expected);
        }
    }
}
