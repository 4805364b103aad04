use std::path::Path;

use examples::Error;
use examples::chat::{Chat, Setup};
use examples::corpus::{Corpus, Kinds, Reason, Skipped};
use examples::index::Index;

/// The application context of the graph. It is not state: runs neither change nor store it.
pub(crate) struct Library {
    pub(crate) index: Index,
    /// The model that writes the answer. Without it, the answer consists of quotations.
    pub(crate) chat: Option<Box<dyn Chat>>,
}

impl Library {
    /// Reads and indexes a folder, and reports skipped files on stderr.
    pub(crate) fn open(folder: &Path, kinds: Kinds) -> Result<Self, Error> {
        let corpus = Corpus::read(folder, kinds)?;
        eprintln!("reading   {} files, {} passages", corpus.files, corpus.passages.len());
        report(&corpus.skipped);
        let setup = Setup::from_env(|name| std::env::var(name).ok())?;
        Ok(Self { index: Index::new(corpus.passages)?, chat: setup.map(chat).transpose()?.flatten() })
    }
}

/// Lists all documents that could not be read, and the first few of the other files.
fn report(skipped: &[Skipped]) {
    const MAX_LISTED: usize = 5;
    let (others, documents): (Vec<_>, Vec<_>) =
        skipped.iter().partition(|skipped| matches!(skipped.reason, Reason::Kind));
    for skipped in documents.iter().chain(others.iter().take(MAX_LISTED)) {
        eprintln!("skipped   {skipped}");
    }
    if let rest @ 1.. = others.len().saturating_sub(MAX_LISTED) {
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
         the answer consists of quotations (use the model with `cargo run -p examples --features openai --bin ask`)",
        setup.endpoint
    );
    Ok(None)
}
