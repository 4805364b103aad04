/// Returns the known word that is nearest to a misspelt or derived one. Of equally near words, the longest common prefix wins.
pub(crate) fn nearest<'a>(known: impl Iterator<Item = &'a str>, stem: &str) -> Option<String> {
    /// Shorter words are near to too many others.
    const SHORTEST: usize = 5;
    let letters: Vec<char> = stem.chars().collect();
    if letters.len() < SHORTEST {
        return None;
    }
    let allowed = if letters.len() < 8 { 1 } else { 2 };
    known
        .filter_map(|known| {
            let other: Vec<char> = known.chars().collect();
            let shared = letters.iter().zip(&other).take_while(|(a, b)| a == b).count();
            // `checkpointer` starts with `checkpoint`, which makes them nearer than the edit distance.
            let derived = other.len() >= SHORTEST && shared == letters.len().min(other.len());
            // Typing errors in the first letter are rare, and such words usually differ in meaning.
            if shared == 0 {
                return None;
            }
            let distance = if derived { 1 } else { edits(&letters, &other) };
            (distance <= allowed).then_some((distance, usize::MAX - shared, known))
        })
        .min()
        .map(|(_, _, known)| known.to_owned())
}

/// Returns the edit distance: the number of letters to insert, delete, replace or swap with their neighbour.
fn edits(a: &[char], b: &[char]) -> usize {
    let mut rows = Vec::with_capacity(a.len() + 1);
    rows.push((0..=b.len()).collect::<Vec<_>>());
    for (i, from) in (1_usize..).zip(a) {
        let mut row = vec![i];
        for (j, to) in (1_usize..).zip(b) {
            let cell = |up: usize, left: usize| -> Option<usize> {
                let line = if up == 0 { &row } else { rows.get(i - up)? };
                line.get(j.checked_sub(left)?).copied()
            };
            let swapped = i > 1 && j > 1 && a.get(i - 2) == Some(to) && b.get(j - 2) == Some(from);
            let ways = [
                cell(1, 1).map(|cost| cost + usize::from(from != to)),
                cell(1, 0).map(|cost| cost + 1),
                cell(0, 1).map(|cost| cost + 1),
                swapped.then(|| cell(2, 2)).flatten().map(|cost| cost + 1),
            ];
            row.push(ways.into_iter().flatten().min().unwrap_or(0));
        }
        rows.push(row);
    }
    rows.last().and_then(|row| row.last()).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(known: &[&str], stem: &str, expected: Option<&str>) {
        assert_eq!(nearest(known.iter().copied(), stem).as_deref(), expected);
    }

    #[test]
    fn longer_words_may_have_more_errors() {
        check(&["superstep", "checkpoint"], "supersetp", Some("superstep"));
        check(&["superstep", "checkpoint"], "checkpontr", Some("checkpoint"));
        check(&["reduc"], "redcu", Some("reduc"));
        check(&["dump"], "bump", None);
        check(&["none"], "done", None);
        check(&["linear"], "binary", None);
        check(&["giraffe"], "zebra", None);
    }

    #[test]
    fn longer_form_matches_the_longest_prefix() {
        check(&["check", "checkpoint"], "checkpointer", Some("checkpoint"));
    }

    #[test]
    fn edit_distance_counts_letters() {
        let distance =
            |a: &str, b: &str| edits(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>());
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", ""), 3);
        assert_eq!(distance("état", "etat"), 1);
        assert_eq!(distance("ab", "ba"), 1);
        assert_eq!(distance("same", "same"), 0);
    }
}
