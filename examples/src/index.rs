//! Full-text search over passages, ranked by BM25.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, BoostQuery, Occur, Query as Clause, TermQuery};
use tantivy::schema::{Field, IndexRecordOption, STORED, Schema, TextFieldIndexing, TextOptions, Value as _};
use tantivy::{IndexWriter, Searcher, TantivyDocument, Term};

use crate::Error;
use crate::corpus::Passage;
use crate::grade::covered;
use crate::query::Query;
use crate::words::{analyzer, stems};

/// A full-text index of a corpus.
pub struct Index {
    passages: Vec<Passage>,
    searcher: Searcher,
    fields: Fields,
    /// The stems of the corpus with their numbers of passages.
    vocabulary: BTreeMap<String, u64>,
}

#[derive(Clone, Copy)]
struct Fields {
    /// The index of the passage in `Index::passages`.
    id: Field,
    headings: Field,
    text: Field,
}

/// A search result: a reference to a passage. See [`Index::passage`].
///
/// It refers to file and line instead of an id of the index, since hits are stored and the documents may change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hit {
    /// The passage's file.
    pub file: String,
    /// The passage's first line.
    pub line: usize,
    /// The BM25 score, comparable only with others of the same search.
    pub score: f32,
    /// The share of [`Query::stems`] that the passage contains, from 0 to 1; see [`covered`].
    pub coverage: f32,
    /// The share of [`Query::meant`] that the passage contains, from 0 to 1.
    pub relevance: f32,
}

const ANALYZER: &str = "words";
/// Words of headings count less than words of the passage itself.
const HEADING_BOOST: f32 = 0.5;
/// The minimum that tantivy accepts.
const WRITER_BYTES: usize = 15_000_000;

impl Index {
    /// Indexes the passages in memory.
    ///
    /// # Errors
    /// [`Error::Index`].
    pub fn new(passages: Vec<Passage>) -> Result<Self, Error> {
        let mut vocabulary = BTreeMap::new();
        for passage in &passages {
            for stem in stems(&passage.searchable()) {
                *vocabulary.entry(stem).or_default() += 1;
            }
        }
        let (fields, schema) = schema();
        let index = tantivy::Index::create_in_ram(schema);
        index.tokenizers().register(ANALYZER, analyzer());
        let searcher = fill(&index, fields, &passages).map_err(failed)?;
        Ok(Self { passages, searcher, fields, vocabulary })
    }

    /// Returns the passages that contain any of the query's stems, best first. Equally good ones are in the order of the corpus.
    ///
    /// # Errors
    /// [`Error::Index`].
    pub fn search(&self, query: &Query, limit: usize) -> Result<Vec<Hit>, Error> {
        let mut hits = self.ranked(query, limit).map_err(failed)?;
        hits.sort_by(|(i, a), (j, b)| b.score.total_cmp(&a.score).then(i.cmp(j)));
        Ok(hits.into_iter().map(|(_, hit)| hit).collect())
    }

    /// Returns the hits, each with the index of its passage.
    fn ranked(&self, query: &Query, limit: usize) -> tantivy::Result<Vec<(usize, Hit)>> {
        let clauses = query.stems.iter().flat_map(|stem| {
            let term = |field| -> Box<dyn Clause> {
                Box::new(TermQuery::new(Term::from_field_text(field, stem), IndexRecordOption::WithFreqs))
            };
            let heading = Box::new(BoostQuery::new(term(self.fields.headings), HEADING_BOOST));
            [(Occur::Should, term(self.fields.text)), (Occur::Should, heading as Box<dyn Clause>)]
        });
        let any = BooleanQuery::new(clauses.collect());
        let top = self.searcher.search(&any, &TopDocs::with_limit(limit).order_by_score())?;
        let mut hits = Vec::with_capacity(top.len());
        for (score, address) in top {
            let document: TantivyDocument = self.searcher.doc(address)?;
            let id = document.get_first(self.fields.id).and_then(|id| id.as_u64());
            let Some(number) = id.and_then(|id| usize::try_from(id).ok()) else { continue };
            let Some(passage) = self.passages.get(number) else { continue };
            let found = stems(&passage.searchable());
            let coverage = covered(self, &query.stems, &found);
            let relevance = covered(self, &query.meant, &found);
            let (file, line) = (passage.file.clone(), passage.first_line());
            hits.push((number, Hit { file, line, score, coverage, relevance }));
        }
        Ok(hits)
    }

    /// Returns the passage of a hit, or `None` if no passage starts at its line.
    pub fn passage(&self, hit: &Hit) -> Option<&Passage> {
        self.passages.iter().find(|passage| passage.file == hit.file && passage.first_line() == hit.line)
    }

    /// Returns the number of passages that contain a stem.
    pub fn frequency(&self, stem: &str) -> u64 {
        self.vocabulary.get(stem).copied().unwrap_or(0)
    }

    /// Returns BM25's inverse document frequency of a stem. It is greatest for an unknown stem.
    pub fn rarity(&self, stem: &str) -> f32 {
        let all = self.passages.len() as f32;
        let with = self.frequency(stem) as f32;
        (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
    }

    /// Returns all stems of the corpus, sorted.
    pub fn vocabulary(&self) -> impl Iterator<Item = &str> {
        self.vocabulary.keys().map(String::as_str)
    }
}

impl Passage {
    /// Returns the indexed text: the headings of the passage and its lines.
    fn searchable(&self) -> String {
        format!("{}\n{}", self.headings.join("\n"), self.text())
    }
}

fn schema() -> (Fields, Schema) {
    let indexing =
        TextFieldIndexing::default().set_tokenizer(ANALYZER).set_index_option(IndexRecordOption::WithFreqs);
    let text = TextOptions::default().set_indexing_options(indexing);
    let mut schema = Schema::builder();
    let fields = Fields {
        id: schema.add_u64_field("id", STORED),
        headings: schema.add_text_field("headings", text.clone()),
        text: schema.add_text_field("text", text),
    };
    (fields, schema.build())
}

fn fill(index: &tantivy::Index, fields: Fields, passages: &[Passage]) -> tantivy::Result<Searcher> {
    // With one thread the results are deterministic: scores depend on the distribution of passages over segments.
    let mut writer: IndexWriter = index.writer_with_num_threads(1, WRITER_BYTES)?;
    for (id, passage) in passages.iter().enumerate() {
        let mut document = TantivyDocument::default();
        document.add_u64(fields.id, id as u64);
        document.add_text(fields.headings, passage.headings.join("\n"));
        document.add_text(fields.text, passage.text());
        writer.add_document(document)?;
    }
    writer.commit()?;
    writer.wait_merging_threads()?;
    Ok(index.reader()?.searcher())
}

fn failed(error: tantivy::TantivyError) -> Error {
    Error::Index(Box::new(error))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::corpus::Line;

    /// Creates an index of one-line passages.
    pub(crate) fn index(texts: &[&str]) -> Index {
        let passage = |(number, text): (usize, &&str)| Passage {
            file: "f.md".to_owned(),
            headings: Vec::new(),
            lines: vec![Line { number: number + 1, text: (*text).to_owned(), code: false }],
        };
        Index::new(texts.iter().enumerate().map(passage).collect()).unwrap()
    }

    fn found(index: &Index, query: &str, limit: usize) -> Vec<usize> {
        let stems: Vec<_> = stems(query).into_iter().collect();
        let query = Query { part: 0, meant: stems.clone(), stems };
        index.search(&query, limit).unwrap().iter().map(|hit| hit.line - 1).collect()
    }

    #[test]
    fn passages_with_more_and_rarer_words_come_first() {
        let index = index(&["a graph of nodes", "a graph", "reducers fold updates", "a graph of updates"]);
        assert_eq!(found(&index, "graph updates", 10), [3, 2, 1, 0]);
        assert_eq!(found(&index, "reducer", 10), [2]);
        assert_eq!(found(&index, "zebra", 10), [] as [usize; 0]);
        assert_eq!(found(&index, "", 10), [] as [usize; 0]);
    }

    #[test]
    fn equally_good_passages_keep_their_order() {
        let index = index(&["same words"; 50]);
        assert_eq!(found(&index, "words", 5), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn headings_are_searched() {
        let passage = |number: usize, headings: &[&str], text: &str| Passage {
            file: "f.md".to_owned(),
            headings: headings.iter().map(|&heading| heading.to_owned()).collect(),
            lines: vec![Line { number, text: text.to_owned(), code: false }],
        };
        let index = Index::new(vec![passage(1, &["Limits"], "it stops"), passage(2, &["Joins"], "it waits")])
            .unwrap();
        assert_eq!(found(&index, "what is a join", 10), [1]);
    }

    #[test]
    fn hit_refers_to_file_and_line() {
        let hit = |line| Hit { file: "f.md".to_owned(), line, score: 1.0, coverage: 1.0, relevance: 1.0 };
        let index = index(&["a graph", "a node"]);
        assert_eq!(index.passage(&hit(2)).map(Passage::text).as_deref(), Some("a node"));
        assert_eq!(index.passage(&hit(3)), None);
    }

    #[test]
    fn rare_words_have_a_greater_rarity() {
        let index = index(&["graph node", "graph edge", "graph route"]);
        assert_eq!(index.frequency("graph"), 3);
        assert!(index.rarity("node") > index.rarity("graph"));
        assert!(index.rarity("zebra") > index.rarity("node"));
    }
}
