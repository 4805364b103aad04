//! Runs of the graph on a thread: a new question, a resume, or a fork.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use examples::corpus::Kinds;
use superstep::run::{HasContext, Run, Target};
use superstep::thread::{OnThread, Thread};
use superstep::{Durability, ErrorKind, GraphState as _, Outcome, StreamMode};

use crate::arguments::Arguments;
use crate::inquiry::{Inquiry, OtherWords};
use crate::library::Library;
use crate::threads::{self, DOCUMENTS, FOLDER};
use crate::{person, print, progress};

/// The exit code of a run that waits for an answer.
const WAITING: u8 = 3;

type ExitResult = Result<ExitCode, Box<dyn Error>>;

/// The thread and the context of all runs of this process.
pub(crate) struct Session<'a> {
    arguments: &'a Arguments,
    thread: Thread<Inquiry, Library>,
    library: Arc<Library>,
    folder: PathBuf,
    kinds: Kinds,
}

impl<'a> Session<'a> {
    /// Asks a new question.
    pub(crate) async fn ask(arguments: &Arguments, thread: Thread<Inquiry, Library>) -> ExitResult {
        let (folder, kinds) = arguments.folder()?;
        let session = Session::open(arguments, thread, folder, kinds)?;
        let run = session.thread.run(Inquiry::input(arguments.question()));
        session.finish(session.with_options(run.context(Arc::clone(&session.library)))).await
    }

    /// Resumes the thread, with the answer to its open interrupt if there is one.
    pub(crate) async fn resume(
        arguments: &Arguments,
        thread: Thread<Inquiry, Library>,
        answer: Option<&str>,
    ) -> ExitResult {
        let interrupts = thread.interrupts().await?;
        let answers = match answer {
            Some(words) => vec![interrupts.only::<OtherWords>()?.answer(words.to_owned())],
            None => Vec::new(),
        };
        let snapshot = thread.state().await?;
        let (folder, kinds) = match snapshot.as_ref().and_then(threads::folder) {
            Some(known) => known,
            None => arguments.folder()?,
        };
        let session = Session::open(arguments, thread, folder, kinds)?;
        let run = session.thread.resume(answers);
        session.finish(session.with_options(run.context(Arc::clone(&session.library)))).await
    }

    /// Starts a new branch at a checkpoint: runs its planned tasks again, or asks another question.
    pub(crate) async fn fork(
        arguments: &Arguments,
        thread: Thread<Inquiry, Library>,
        checkpoint: &str,
    ) -> ExitResult {
        let snapshot = threads::checkpoint(&thread, checkpoint).await?;
        let known = threads::folder(&snapshot).filter(|_| arguments.given_question().is_none());
        let (folder, kinds) = match known {
            Some(known) => known,
            None => arguments.folder()?,
        };
        let session = Session::open(arguments, thread, folder, kinds)?;
        let at = session.thread.at(snapshot.id);
        let context = Arc::clone(&session.library);
        match arguments.given_question() {
            None => session.finish(session.with_options(at.run_again().context(context))).await,
            Some(question) => {
                let run = at.run(Inquiry::input(question));
                session.finish(session.with_options(run.context(context))).await
            }
        }
    }

    fn open(
        arguments: &'a Arguments,
        thread: Thread<Inquiry, Library>,
        folder: PathBuf,
        kinds: Kinds,
    ) -> Result<Self, Box<dyn Error>> {
        eprintln!("thread    {}", thread.name());
        let library = Arc::new(Library::open(&folder, kinds)?);
        Ok(Self { arguments, thread, library, folder, kinds })
    }

    /// Sets the options of a run. With `Durability::Sync` each superstep is stored before the next one starts, so a `kill -9`
    /// loses at most the current superstep.
    fn with_options<K>(
        &self,
        run: Run<Inquiry, Library, HasContext<Library>, OnThread<Inquiry, K>>,
    ) -> Run<Inquiry, Library, HasContext<Library>, OnThread<Inquiry, K>> {
        // Absolute, since a resume may have another working directory.
        let folder = std::path::absolute(&self.folder).unwrap_or_else(|_| self.folder.clone());
        run.durability(Durability::Sync)
            .metadata(FOLDER, folder.to_string_lossy().into_owned())
            .metadata(DOCUMENTS, threads::kinds_name(self.kinds))
            .events([StreamMode::Updates, StreamMode::Custom])
    }

    /// Runs to the end, and asks the user when the run is interrupted.
    async fn finish<T: Target<Inquiry>>(
        &self,
        run: Run<Inquiry, Library, HasContext<Library>, T>,
    ) -> ExitResult {
        let mut outcome = run.stream().for_each(progress::report).await;
        loop {
            let pause = match outcome {
                Ok(Outcome::Done(inquiry)) => return self.answer(&inquiry),
                Ok(Outcome::Interrupted(pause)) => pause,
                Err(error) => return self.failed(error),
            };
            let question = pause.only::<OtherWords>()?;
            let Some(words) = person::ask(&question)? else {
                if self.arguments.json {
                    print(&dump(pause.state())?)?;
                }
                person::print_answer_command(self.thread.name(), self.db());
                return Ok(ExitCode::from(WAITING));
            };
            let run = self.thread.resume(question.answer(words)).context(Arc::clone(&self.library));
            outcome = self.with_options(run).stream().for_each(progress::report).await;
        }
    }

    fn answer(&self, inquiry: &Inquiry) -> ExitResult {
        if self.arguments.json {
            print(&dump(inquiry)?)?;
        }
        match &inquiry.answer {
            Some(_) if self.arguments.json => Ok(ExitCode::SUCCESS),
            Some(answer) => print(&answer.text),
            None => {
                let folder = self.folder.display();
                Err(format!("no document in `{folder}` answers `{}`", inquiry.question).into())
            }
        }
    }

    fn failed(&self, error: superstep::Error) -> ExitResult {
        // A failed run has the state of its last successful superstep.
        if let (true, Some(inquiry)) = (self.arguments.json, error.state::<Inquiry>()) {
            print(&dump(inquiry)?)?;
        }
        if matches!(error.kind(), ErrorKind::Node { .. }) {
            person::print_resume_command(self.thread.name(), self.db());
        }
        Err(error.into())
    }

    fn db(&self) -> Option<&Path> {
        self.arguments.db.as_deref()
    }
}

fn dump(inquiry: &Inquiry) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(&inquiry.dump()).map(|json| json + "\n")
}
