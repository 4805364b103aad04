//! Rewrites a query that found too little. Deterministic, and without synonyms.

use crate::index::Index;
use crate::query::Query;
use crate::spelling;

/// Returns the next query to try, or `None` if there is no other.
///
/// 1. Replaces each unknown word by the nearest known one: `checkpontr` by `checkpoint`.
/// 2. Drops unknown words without a near one.
/// 3. If all words are known, drops the most common one, so that the rarest word remains to the end.
pub fn rewrite(index: &Index, query: &Query) -> Option<Query> {
    let unknown = |stem: &&String| index.frequency(stem) == 0;
    let (stems, meant) = if query.stems.iter().any(|stem| unknown(&stem)) {
        let correct = |stem: &String| match index.frequency(stem) {
            0 => spelling::nearest(index.vocabulary(), stem),
            _ => Some(stem.clone()),
        };
        let meant = query.meant.iter().map(|stem| correct(stem).unwrap_or_else(|| stem.clone()));
        (distinct(query.stems.iter().filter_map(correct)), distinct(meant))
    } else {
        let most_common = query.stems.iter().max_by_key(|stem| index.frequency(stem))?;
        let rest = query.stems.iter().filter(|stem| *stem != most_common).cloned();
        (rest.collect(), query.meant.clone())
    };
    (!stems.is_empty()).then_some(Query { part: query.part, stems, meant })
}

fn distinct(stems: impl Iterator<Item = String>) -> Vec<String> {
    let mut distinct = Vec::new();
    for stem in stems {
        if !distinct.contains(&stem) {
            distinct.push(stem);
        }
    }
    distinct
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::tests::index;

    fn query(text: &str) -> Query {
        let stems: Vec<_> = text.split(' ').map(str::to_owned).collect();
        Query { part: 0, meant: stems.clone(), stems }
    }

    #[track_caller]
    fn check(corpus: &[&str], text: &str, expected: Option<(&str, &str)>) {
        let found = rewrite(&index(corpus), &query(text));
        let found = found.map(|query| (query.stems.join(" "), query.meant.join(" ")));
        assert_eq!(found.as_ref().map(|(stems, meant)| (stems.as_str(), meant.as_str())), expected);
    }

    #[test]
    fn misspelt_word_is_replaced_by_the_nearest() {
        check(&["superstep", "checkpoint"], "supersetp", Some(("superstep", "superstep")));
        check(&["graph node"], "graph grpah", Some(("graph", "graph")));
    }

    #[test]
    fn unknown_word_is_dropped_but_still_meant() {
        check(&["graph node"], "graph zebra", Some(("graph", "graph zebra")));
        check(&["graph node"], "zebra", None);
    }

    #[test]
    fn most_common_word_is_dropped_first() {
        check(&["graph node", "graph edge"], "graph node", Some(("node", "graph node")));
        check(&["graph node"], "node", None);
    }

    #[test]
    fn rewriting_terminates() {
        let index = index(&["a graph node", "a graph edge", "state"]);
        let mut last = query("graph statte zebra node");
        let mut rounds = Vec::new();
        while let Some(next) = rewrite(&index, &last) {
            assert_ne!(next, last);
            rounds.push(next.stems.join(" "));
            last = next;
        }
        assert_eq!(rounds, ["graph state node", "state node", "state"]);
    }
}
