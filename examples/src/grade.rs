//! Whether what was found will do.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::index::{Hit, Index};

/// How well a part of the question is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// No passage has any of its words.
    Nothing,
    /// Some words were found, but too few together in one passage.
    Weak,
    /// One passage has most of what was asked for.
    Good,
}

/// Below this share of the query in its best passage, another query is tried.
const GOOD: f32 = 0.6;

/// Below this share of what was *meant*, a passage speaks of something else. Rewriting gives up words one by one; without
/// a floor, any question would end up with a passage that happens to share a word.
const RELEVANT: f32 = 0.3;

impl Hit {
    /// Whether the passage may be quoted.
    pub fn is_relevant(&self) -> bool {
        self.relevance >= RELEVANT
    }
}

/// Grades one search by the best of its hits.
pub fn grade(hits: &[Hit]) -> Grade {
    match hits.iter().map(|hit| hit.coverage).max_by(f32::total_cmp) {
        None => Grade::Nothing,
        Some(best) if best < GOOD => Grade::Weak,
        Some(_) => Grade::Good,
    }
}

/// The share of `wanted` that is among `found`, each word weighing as much as it is rare in the corpus.
///
/// The score of a search cannot serve as a measure: BM25 has no upper bound and no meaning across queries.
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
    fn the_best_hit_decides() {
        check(&[], Grade::Nothing);
        check(&[0.2, 0.59], Grade::Weak);
        check(&[0.2, 0.6], Grade::Good);
        check(&[1.0], Grade::Good);
    }

    #[test]
    fn a_rare_word_weighs_more_than_a_common_one() {
        let index = index(&["graph node", "graph edge", "graph"]);
        let wanted = ["graph".to_owned(), "node".to_owned()];
        let by_rare = covered(&index, &wanted, &stems("node"));
        let by_common = covered(&index, &wanted, &stems("graph"));
        assert!(by_rare > 0.5 && by_common < 0.5, "{by_rare} {by_common}");
        assert_eq!(covered(&index, &wanted, &stems("node graph")), 1.0);
        assert_eq!(covered(&index, &[], &stems("node")), 0.0);
    }
}
