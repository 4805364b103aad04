use std::path::Path;

use examples::Error;
use examples::chat::{Chat, Setup};
use examples::corpus::{Corpus, Kinds};
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
        for skipped in &corpus.skipped {
            eprintln!("skipped   {skipped}");
        }
        let setup = Setup::from_env(|name| std::env::var(name).ok())?;
        Ok(Self { index: Index::new(corpus.passages)?, chat: setup.and_then(chat) })
    }
}

#[cfg(feature = "openai")]
fn chat(setup: Setup) -> Option<Box<dyn Chat>> {
    Some(Box::new(examples::chat::OpenAi::new(setup)))
}

#[cfg(not(feature = "openai"))]
fn chat(setup: Setup) -> Option<Box<dyn Chat>> {
    eprintln!(
        "note      a chat endpoint is set ({}), but `ask` was built without the feature `openai`: \
         answering in the documents' own words (`cargo run -p examples --features openai --bin ask` asks the model)",
        setup.endpoint
    );
    None
}
