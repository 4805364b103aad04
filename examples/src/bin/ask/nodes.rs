//! The nodes: async functions from what they read to what they write, and to where it goes from there.

use examples::answer;
use examples::chat::Prompt;
use examples::grade::{Grade, grade as grade_of};
use examples::query::Query;
use examples::question::parts;
use examples::quote::{Quotation, quotations};
use examples::rewrite::rewrite as rewritten;
use graph_core::{Ctx, Result, Route};
use serde::Serialize;

use crate::inquiry::{Inquiry, InquiryUpdate, Search};
use crate::library::Library;

/// Passages that one search looks at.
const HITS: usize = 8;
/// Searches for one part of the question before it is given up.
const TRIES: usize = 4;

/// From [`plan`]: one search for each part, all at the same time.
#[derive(Route)]
pub(crate) enum Planned {
    #[to(search)]
    Search(Query),
}

/// Takes the question apart.
pub(crate) async fn plan(inquiry: &Inquiry) -> Result<(InquiryUpdate, Vec<Planned>)> {
    let parts = parts(&inquiry.question)?;
    let searches =
        parts.iter().enumerate().map(|(number, part)| Planned::Search(Query::new(number, part))).collect();
    Ok((Inquiry::update().parts(parts), searches))
}

/// Runs one query. It reads a packet, so no plain edge can lead here.
pub(crate) async fn search(query: &Query, library: &Ctx<Library>) -> Result<InquiryUpdate> {
    let hits = library.context().index.search(query, HITS)?;
    let search = Search { query: query.clone(), grade: grade_of(&hits), hits };
    Ok(Inquiry::update().searches([search]))
}

/// From [`grade`].
#[derive(Route)]
pub(crate) enum Verdict {
    #[to(compose)]
    Enough,
    #[to(rewrite)]
    TooLittle,
}

/// Looks at the last search for each part.
pub(crate) async fn grade(inquiry: &Inquiry) -> (InquiryUpdate, Verdict) {
    let latest = (0..inquiry.parts.len()).filter_map(|part| {
        let last = inquiry.searches_for(part).next_back()?;
        Some((last, inquiry.searches_for(part).count()))
    });
    let weak: Vec<Query> = latest
        .filter(|(last, tries)| last.grade < Grade::Good && *tries < TRIES)
        .map(|(last, _)| last.query.clone())
        .collect();
    let verdict = if weak.is_empty() { Verdict::Enough } else { Verdict::TooLittle };
    (Inquiry::update().weak(weak), verdict)
}

/// From [`rewrite`].
#[derive(Route)]
pub(crate) enum Retry {
    #[to(search)]
    Search(Query),
    #[to(compose)]
    GiveUp,
}

/// Finds other words for what found too little.
pub(crate) async fn rewrite(inquiry: &Inquiry, library: &Ctx<Library>) -> Vec<Retry> {
    let index = &library.context().index;
    let mut retries: Vec<_> =
        inquiry.weak.iter().filter_map(|query| rewritten(index, query)).map(Retry::Search).collect();
    if retries.is_empty() {
        retries.push(Retry::GiveUp);
    }
    retries
}

/// Quotes the best passages, and lets a model put them into words if there is one.
pub(crate) async fn compose(inquiry: &Inquiry, library: &Ctx<Library>) -> Result<InquiryUpdate> {
    let quotations = quoted(inquiry, library.context());
    if quotations.is_empty() {
        return Ok(Inquiry::update());
    }
    let answer = match &library.context().chat {
        None => answer::extract(&inquiry.parts, quotations),
        Some(chat) => {
            library.emit(Asking { model: chat.model().to_owned() }).await;
            let reply = chat.reply(&Prompt::new(&inquiry.question, &quotations)).await?;
            answer::written(&reply, quotations)
        }
    };
    Ok(Inquiry::update().answer(answer))
}

/// Sent while a model is at work, which takes a while.
#[derive(Serialize)]
pub(crate) struct Asking {
    pub(crate) model: String,
}

fn quoted(inquiry: &Inquiry, library: &Library) -> Vec<Quotation> {
    let best = (0..inquiry.parts.len()).filter_map(|part| {
        // Of equally good searches the first: what came later was rewritten further from the question.
        inquiry.searches_for(part).rev().max_by(|a, b| a.relevance().total_cmp(&b.relevance()))
    });
    answer::collect(best.flat_map(|search| quotations(&library.index, &search.query, &search.hits)).collect())
}
