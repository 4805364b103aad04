use proc_macro2::Ident;

/// Returns the error for a key that is not in `known`.
pub(crate) fn unknown(key: &Ident, what: &str, known: &[&str]) -> syn::Error {
    let name = key.to_string();
    let near = known
        .iter()
        .map(|candidate| (distance(&name, candidate), *candidate))
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len() / 4)
        .min();
    let message = match near {
        Some((_, near)) => format!("unknown {what} `{name}`, did you mean `{near}`?"),
        None => format!("unknown {what} `{name}`: expected one of {}", list(known)),
    };
    syn::Error::new(key.span(), message)
}

fn list(known: &[&str]) -> String {
    let quoted: Vec<_> = known.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

/// Returns the number of edits between two words: letters changed, added, removed, or swapped with their neighbor.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    let mut previous = None;
    for (row, letter) in a.chars().enumerate() {
        let mut line = vec![row + 1];
        let mut left = None;
        for (column, &other) in b.iter().enumerate() {
            let at = |row: &[usize], column: usize| row.get(column).copied().unwrap_or(usize::MAX - 1);
            let mut best = (at(&last, column) + usize::from(letter != other))
                .min(at(&last, column + 1) + 1)
                .min(at(&line, column) + 1);
            if previous == Some(other) && left == Some(letter) && column > 0 {
                best = best.min(at(&before_last, column - 1) + 1);
            }
            line.push(best);
            left = Some(other);
        }
        before_last = std::mem::replace(&mut last, line);
        previous = Some(letter);
    }
    last.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn distance_counts_typos() {
        for (a, b, expected) in [
            ("reducer", "reducer", 0),
            ("reducr", "reducer", 1),
            ("redcuer", "reducer", 1),
            ("exclud", "exclude", 1),
            ("append", "appends", 1),
            ("x", "reducer", 7),
        ] {
            assert_eq!(distance(a, b), expected, "{a} → {b}");
        }
    }
}
