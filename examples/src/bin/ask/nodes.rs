//! The nodes: async functions from what they read to what they write, and to where it goes from there.

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

/// Takes the question apart, and clears away what an earlier question of the same thread has left.
pub(crate) async fn plan(inquiry: &Inquiry) -> Result<(InquiryUpdate, Vec<Planned>)> {
    let parts = parts(&inquiry.question)?;
    let searches =
        parts.iter().enumerate().map(|(number, part)| Planned::Search(Query::new(number, part))).collect();
    let update = Inquiry::update().parts(parts).searches(Overwrite(Vec::new())).answer(None);
    Ok((update.consulted(Overwrite(Vec::new())), searches))
}

/// Runs one query. It reads a packet, so no plain edge can lead here.
pub(crate) async fn search(query: &Query, library: &ContextWith<Library>) -> Result<InquiryUpdate> {
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
    #[to(consult)]
    Nothing,
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
    let verdict = match (weak.is_empty(), inquiry.unanswered().next()) {
        (false, _) => Verdict::TooLittle,
        (true, Some(_)) => Verdict::Nothing,
        (true, None) => Verdict::Enough,
    };
    (Inquiry::update().weak(weak), verdict)
}

/// From [`rewrite`].
#[derive(Route)]
pub(crate) enum Retry {
    #[to(search)]
    Search(Query),
    #[to(consult)]
    Ask,
    #[to(compose)]
    GiveUp,
}

/// Finds other words for what found too little.
pub(crate) async fn rewrite(inquiry: &Inquiry, library: &ContextWith<Library>) -> Vec<Retry> {
    let index = &library.context().index;
    let mut retries: Vec<_> =
        inquiry.weak.iter().filter_map(|query| rewritten(index, query)).map(Retry::Search).collect();
    if retries.is_empty() {
        retries.push(if inquiry.unanswered().next().is_some() { Retry::Ask } else { Retry::GiveUp });
    }
    retries
}

/// From [`consult`].
#[derive(Route)]
pub(crate) enum Consulted {
    #[to(search)]
    Search(Query),
    #[to(compose)]
    NoOtherWords,
}

/// Asks the person for other words, once for each part that nothing was found for.
///
/// Without an answer the run stops here. With one it runs again from its top: what was answered before is answered at once.
pub(crate) async fn consult(inquiry: &Inquiry, cx: &Context) -> (InquiryUpdate, Vec<Consulted>) {
    let (mut asked, mut ways) = (Vec::new(), Vec::new());
    for (number, part) in inquiry.unanswered() {
        let searches = inquiry.searches_for(number).count();
        let question = OtherWords { part: part.text.clone(), searches };
        let answer = cx.interrupt(question).keyed(number.to_string()).await;
        let part = Part { words: words(&answer), text: answer };
        if !part.words.is_empty() {
            ways.push(Consulted::Search(Query::new(number, &part)));
        }
        asked.push(number);
    }
    if ways.is_empty() {
        ways.push(Consulted::NoOtherWords);
    }
    (Inquiry::update().consulted(asked), ways)
}

/// Quotes the best passages, and lets a model put them into words if there is one.
pub(crate) async fn compose(inquiry: &Inquiry, library: &ContextWith<Library>) -> Result<InquiryUpdate> {
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
