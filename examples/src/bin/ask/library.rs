use std::path::Path;

use examples::Error;
use examples::chat::{Chat, Setup};
use examples::corpus::{Corpus, Kinds, Reason, Skipped};
use examples::index::Index;

/// What the nodes work with: the graph's context. None of it is state; a run neither changes nor stores it.
pub(crate) struct Library {
    pub(crate) index: Index,
    /// Writes the answer; without it the answer is made of quotations.
    pub(crate) chat: Option<Box<dyn Chat>>,
}

impl Library {
    /// Reads and indexes a folder, and says on stderr what was left out.
    pub(crate) fn open(folder: &Path, kinds: Kinds) -> Result<Self, Error> {
        let corpus = Corpus::read(folder, kinds)?;
        eprintln!("reading   {} files, {} passages", corpus.files, corpus.passages.len());
        report(&corpus.skipped);
        let setup = Setup::from_env(|name| std::env::var(name).ok())?;
        Ok(Self { index: Index::new(corpus.passages)?, chat: setup.map(chat).transpose()?.flatten() })
    }
}

/// Names every document that could not be read, and a few of the files that are none.
fn report(skipped: &[Skipped]) {
    const NAMED: usize = 5;
    let (others, documents): (Vec<_>, Vec<_>) =
        skipped.iter().partition(|skipped| matches!(skipped.reason, Reason::Kind));
    for skipped in documents.iter().chain(others.iter().take(NAMED)) {
        eprintln!("skipped   {skipped}");
    }
    if let rest @ 1.. = others.len().saturating_sub(NAMED) {
        eprintln!("skipped   {rest} more ({})", Reason::Kind);
    }
}

#[cfg(feature = "openai")]
fn chat(setup: Setup) -> Result<Option<Box<dyn Chat>>, Error> {
    Ok(Some(Box::new(examples::chat::OpenAi::new(setup)?)))
}

#[cfg(not(feature = "openai"))]
fn chat(setup: Setup) -> Result<Option<Box<dyn Chat>>, Error> {
    eprintln!(
        "note      a chat endpoint is set ({}), but `ask` was built without the feature `openai`: \
         answering in the documents' own words (`cargo run -p examples --features openai --bin ask` asks the model)",
        setup.endpoint
    );
    Ok(None)
}
