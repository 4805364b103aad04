/// Returns the nearest name, if at most a third of its letters differ.
pub(crate) fn suggest<'n>(given: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let given: Vec<char> = letters(given);
    names
        .into_iter()
        .map(|name| {
            let wanted = letters(name);
            (distance(&given, &wanted), wanted.len().max(given.len()), name)
        })
        .filter(|(distance, length, _)| distance * 3 <= *length)
        .min_by_key(|(distance, _, _)| *distance)
        .map(|(_, _, name)| name)
}

/// The letters that count: case and word separators do not, so `maxRetries` is near `max_retries`.
fn letters(name: &str) -> Vec<char> {
    name.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).flat_map(char::to_lowercase).collect()
}

/// Returns the number of letters to change, add, remove or swap with their neighbour.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    let mut left_of_a = None;
    for (row, &in_a) in a.iter().enumerate() {
        let mut line = vec![row + 1];
        let mut left_of_b = None;
        for (column, &in_b) in b.iter().enumerate() {
            let cell = |line: &[usize], at: usize| line.get(at).copied().unwrap_or(usize::MAX / 2);
            let mut cost = (cell(&above, column) + usize::from(in_a != in_b))
                .min(cell(&above, column + 1) + 1)
                .min(cell(&line, column) + 1);
            if left_of_a == Some(in_b) && left_of_b == Some(in_a) {
                cost = cost.min(column.checked_sub(1).map_or(usize::MAX / 2, |at| cell(&before, at)) + 1);
            }
            line.push(cost);
            left_of_b = Some(in_b);
        }
        before = std::mem::replace(&mut above, line);
        left_of_a = Some(in_a);
    }
    above.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_name_is_suggested() {
        let names = ["question", "notes", "max_retries", "größe"];
        for (given, expected) in [
            ("qestion", Some("question")),
            ("quesiton", Some("question")),
            ("note", Some("notes")),
            ("NOTES", Some("notes")),
            ("maxRetries", Some("max_retries")),
            ("grösse", Some("größe")),
            ("answer", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(suggest(given, names), expected, "{given}");
        }
    }

    #[test]
    fn swapped_neighbours_are_one_change() {
        let count = |a: &str, b: &str| distance(&letters(a), &letters(b));
        assert_eq!(count("ab", "ba"), 1);
        assert_eq!(count("kitten", "sitting"), 3);
        assert_eq!(count("", "abc"), 3);
    }
}
