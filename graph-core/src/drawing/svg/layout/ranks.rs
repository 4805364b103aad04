//! Assigns a rank to each vertex.

use super::Connection;

/// Returns the lines to turn around so that no cycle is left.
pub(crate) fn reversed(count: usize, lines: &[Connection]) -> Vec<bool> {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        Not,
        Open,
        Done,
    }
    let mut seen = vec![Seen::Not; count];
    let mut reversed = vec![false; lines.len()];
    for root in 0..count {
        // An explicit stack: recursion would overflow on deep graphs.
        let mut stack = vec![(root, 0)];
        if seen.get(root) != Some(&Seen::Not) {
            continue;
        }
        while let Some((vertex, next)) = stack.pop() {
            if let Some(state) = seen.get_mut(vertex) {
                *state = Seen::Open;
            }
            let line = lines
                .iter()
                .enumerate()
                .skip(next)
                .find(|(_, line)| line.from == vertex && line.to != vertex);
            let Some((index, line)) = line else {
                if let Some(state) = seen.get_mut(vertex) {
                    *state = Seen::Done;
                }
                continue;
            };
            stack.push((vertex, index + 1));
            match seen.get(line.to) {
                Some(Seen::Not) => stack.push((line.to, 0)),
                Some(Seen::Open) => {
                    if let Some(reversed) = reversed.get_mut(index) {
                        *reversed = true;
                    }
                }
                _ => {}
            }
        }
    }
    reversed
}

/// Returns the rank of each vertex: below all its predecessors. Spots take every second rank, which leaves room for
/// labels.
pub(crate) fn ranks(count: usize, lines: &[Connection], reversed: &[bool]) -> Vec<usize> {
    let mut ranks = vec![0; count];
    // The longest path has at most `count` vertices, so `count` passes are enough.
    for _ in 0..count {
        let mut changed = false;
        for (line, reversed) in lines.iter().zip(reversed) {
            let (upper, lower) = if *reversed { (line.to, line.from) } else { (line.from, line.to) };
            let least = ranks.get(upper).map_or(0, |rank| rank + 2);
            if let Some(rank) = ranks.get_mut(lower)
                && upper != lower
                && *rank < least
            {
                *rank = least;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    ranks
}
