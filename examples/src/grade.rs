//! Grades for search results: good enough for an answer or not.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::index::{Hit, Index};

/// The grade of a search for one part of the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// No passage contains any of the words.
    Nothing,
    /// Some words were found, but too few of them in one passage.
    Weak,
    /// One passage contains most of the words.
    Good,
}

/// The minimum coverage of the best passage. Below it, another query is tried.
const GOOD: f32 = 0.6;

/// The minimum relevance of a passage. Rewriting drops words one by one. Without a minimum, every question would end with a passage
/// that happens to share one word.
const RELEVANT: f32 = 0.3;

impl Hit {
    /// Returns `true` if the passage may be quoted.
    pub fn is_relevant(&self) -> bool {
        self.relevance >= RELEVANT
    }
}

/// Grades one search by its best hit.
pub fn grade(hits: &[Hit]) -> Grade {
    match hits.iter().map(|hit| hit.coverage).max_by(f32::total_cmp) {
        None => Grade::Nothing,
        Some(best) if best < GOOD => Grade::Weak,
        Some(_) => Grade::Good,
    }
}

/// Returns the share of `wanted` that `found` contains. Rare words have a greater weight.
///
/// BM25 scores cannot be used instead: they have no upper bound and cannot be compared across queries.
pub fn covered(index: &Index, wanted: &[String], found: &BTreeSet<String>) -> f32 {
    let weight = |stem: &String| index.rarity(stem);
    let all: f32 = wanted.iter().map(weight).sum();
    let here: f32 = wanted.iter().filter(|stem| found.contains(*stem)).map(weight).sum();
    if all > 0.0 { here / all } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::tests::index;
    use crate::words::stems;

    #[track_caller]
    fn check(coverages: &[f32], expected: Grade) {
        let hit = |&coverage| Hit { file: "a.md".to_owned(), line: 1, score: 1.0, coverage, relevance: 1.0 };
        assert_eq!(grade(&coverages.iter().map(hit).collect::<Vec<_>>()), expected);
    }

    #[test]
    fn best_hit_decides_the_grade() {
        check(&[], Grade::Nothing);
        check(&[0.2, 0.59], Grade::Weak);
        check(&[0.2, 0.6], Grade::Good);
        check(&[1.0], Grade::Good);
    }

    #[test]
    fn rare_words_have_a_greater_weight() {
        let index = index(&["graph node", "graph edge", "graph"]);
        let wanted = ["graph".to_owned(), "node".to_owned()];
        let by_rare = covered(&index, &wanted, &stems("node"));
        let by_common = covered(&index, &wanted, &stems("graph"));
        assert!(by_rare > 0.5 && by_common < 0.5, "{by_rare} {by_common}");
        assert_eq!(covered(&index, &wanted, &stems("node graph")), 1.0);
        assert_eq!(covered(&index, &[], &stems("node")), 0.0);
    }
}
