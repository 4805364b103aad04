//! The nodes: async functions that read the state or a packet, and return an update, a route, or both.

use examples::answer;
use examples::chat::Prompt;
use examples::grade::{Grade, grade as grade_of};
use examples::query::Query;
use examples::question::{Part, parts};
use examples::quote::{Quotation, quotations};
use examples::rewrite::rewrite as rewritten;
use examples::words::words;
use serde::Serialize;
use superstep::{Context, ContextWith, Overwrite, Result, Route};

use crate::inquiry::{Inquiry, InquiryUpdate, OtherWords, Search};
use crate::library::Library;

/// The maximum number of passages that one search returns.
const MAX_HITS: usize = 8;
/// The maximum number of searches for one part of the question.
const MAX_SEARCHES: usize = 4;

/// The route after [`plan`]: one search for each part, all in parallel.
#[derive(Route)]
pub(crate) enum Planned {
    #[to(search)]
    Search(Query),
}

/// Splits the question into parts, and clears the results of an earlier question on the same thread.
pub(crate) async fn plan(inquiry: &Inquiry) -> Result<(InquiryUpdate, Vec<Planned>)> {
    let parts = parts(&inquiry.question)?;
    let searches =
        parts.iter().enumerate().map(|(number, part)| Planned::Search(Query::new(number, part))).collect();
    let update = Inquiry::update().parts(parts).searches(Overwrite(Vec::new())).answer(None);
    Ok((update.consulted(Overwrite(Vec::new())), searches))
}

/// Runs one query. The node reads a packet, so plain edges cannot lead to it.
pub(crate) async fn search(query: &Query, library: &ContextWith<Library>) -> Result<InquiryUpdate> {
    let hits = library.context().index.search(query, MAX_HITS)?;
    let search = Search { query: query.clone(), grade: grade_of(&hits), hits };
    Ok(Inquiry::update().searches([search]))
}

/// The route after [`grade`].
#[derive(Route)]
pub(crate) enum Verdict {
    #[to(compose)]
    Enough,
    #[to(rewrite)]
    TooLittle,
    #[to(consult)]
    Nothing,
}

/// Grades the last search for each part.
pub(crate) async fn grade(inquiry: &Inquiry) -> (InquiryUpdate, Verdict) {
    let latest = (0..inquiry.parts.len()).filter_map(|part| {
        let last = inquiry.searches_for(part).next_back()?;
        Some((last, inquiry.searches_for(part).count()))
    });
    let weak: Vec<Query> = latest
        .filter(|(last, searches)| last.grade < Grade::Good && *searches < MAX_SEARCHES)
        .map(|(last, _)| last.query.clone())
        .collect();
    let verdict = match (weak.is_empty(), inquiry.unanswered().next()) {
        (false, _) => Verdict::TooLittle,
        (true, Some(_)) => Verdict::Nothing,
        (true, None) => Verdict::Enough,
    };
    (Inquiry::update().weak(weak), verdict)
}

/// The route after [`rewrite`].
#[derive(Route)]
pub(crate) enum Retry {
    #[to(search)]
    Search(Query),
    #[to(consult)]
    Ask,
    #[to(compose)]
    GiveUp,
}

/// Rewrites the queries that found too little.
pub(crate) async fn rewrite(inquiry: &Inquiry, library: &ContextWith<Library>) -> Vec<Retry> {
    let index = &library.context().index;
    let mut retries: Vec<_> =
        inquiry.weak.iter().filter_map(|query| rewritten(index, query)).map(Retry::Search).collect();
    if retries.is_empty() {
        retries.push(if inquiry.unanswered().next().is_some() { Retry::Ask } else { Retry::GiveUp });
    }
    retries
}

/// The route after [`consult`].
#[derive(Route)]
pub(crate) enum Consulted {
    #[to(search)]
    Search(Query),
    #[to(compose)]
    NoOtherWords,
}

/// Asks the user for other words, once for each part without a result.
///
/// The run pauses at the first question without an answer. On resume the node runs again from its start, and earlier questions
/// return their answers at once.
pub(crate) async fn consult(inquiry: &Inquiry, cx: &Context) -> (InquiryUpdate, Vec<Consulted>) {
    let (mut consulted, mut routes) = (Vec::new(), Vec::new());
    for (number, part) in inquiry.unanswered() {
        let searches = inquiry.searches_for(number).count();
        let question = OtherWords { part: part.text.clone(), searches };
        let answer = cx.interrupt(question).keyed(number.to_string()).await;
        let part = Part { words: words(&answer), text: answer };
        if !part.words.is_empty() {
            routes.push(Consulted::Search(Query::new(number, &part)));
        }
        consulted.push(number);
    }
    if routes.is_empty() {
        routes.push(Consulted::NoOtherWords);
    }
    (Inquiry::update().consulted(consulted), routes)
}

/// Quotes the best passages. If there is a model, it writes the answer from the quotations.
pub(crate) async fn compose(inquiry: &Inquiry, library: &ContextWith<Library>) -> Result<InquiryUpdate> {
    let quotations = best_quotations(inquiry, library.context());
    if quotations.is_empty() {
        return Ok(Inquiry::update());
    }
    let answer = match &library.context().chat {
        None => answer::extract(&inquiry.parts, quotations),
        Some(chat) => {
            library.emit(CallingModel { model: chat.model().to_owned() }).await;
            let reply = chat.reply(&Prompt::new(&inquiry.question, &quotations)).await?;
            answer::written(&reply, quotations)
        }
    };
    Ok(Inquiry::update().answer(answer))
}

/// A custom event: the model is called, which takes a while.
#[derive(Serialize)]
pub(crate) struct CallingModel {
    pub(crate) model: String,
}

fn best_quotations(inquiry: &Inquiry, library: &Library) -> Vec<Quotation> {
    let best = (0..inquiry.parts.len()).filter_map(|part| {
        // The first of equally good searches: later ones are further from the question.
        inquiry.searches_for(part).rev().max_by(|a, b| a.relevance().total_cmp(&b.relevance()))
    });
    answer::collect(best.flat_map(|search| quotations(&library.index, &search.query, &search.hits)).collect())
}
