use std::borrow::Cow;

/// Shortens a string for an error message: of a long one, the beginning and the end remain.
///
/// Errors about a value often quote it, and name the expected one at the end.
pub(crate) fn shortened(text: &str, max_chars: usize) -> Cow<'_, str> {
    // No character is shorter than a byte.
    if text.len() <= max_chars || text.chars().count() <= max_chars {
        return Cow::Borrowed(text);
    }
    let end: usize = max_chars / 3;
    let start = text.char_indices().nth(max_chars.saturating_sub(end)).map_or(text.len(), |(at, _)| at);
    let rest = text.char_indices().rev().nth(end.saturating_sub(1)).map_or(text.len(), |(at, _)| at);
    let (start, end) = (text.get(..start).unwrap_or_default(), text.get(rest..).unwrap_or_default());
    Cow::Owned(format!("{start} … {end}"))
}

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn beginning_and_end_of_a_long_text_remain() {
        for (text, expected) in [
            ("", ""),
            ("abcdef", "abcdef"),
            ("äöüäöü", "äöüäöü"),
            ("abcdefg", "abcd … fg"),
            ("äöü🦀 and more ß", "äöü🦀 …  ß"),
        ] {
            assert_eq!(shortened(text, 6), expected);
        }
        assert_eq!(shortened(&"ü".repeat(1_000_000), 300).chars().count(), 303);
    }
}
