//! Processes that are killed at any moment. Each is this program, started again with one test.

use std::env;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use superstep_sqlite::{SqliteCheckpointer, Synchronous};

use crate::crashes::{TICK, Timeline};
use crate::instrumented_store::InstrumentedStore;
use crate::journal::Journal;

const PATH: &str = "DURABILITY_TEST_FILE";
const HOW: &str = "DURABILITY_TEST_HOW";
const CLOCK: &str = "DURABILITY_TEST_CLOCK";

/// The variable that makes the tests kill ten times as many processes.
const LONG: &str = "LONG";

/// Returns the number of kills, ten times as many if `LONG` is set.
pub(crate) fn scaled(kills: usize) -> usize {
    if env::var_os(LONG).is_some() { 10 * kills } else { kills }
}

/// A small random number generator. A seed makes a test repeatable.
pub(crate) struct Rng(pub(crate) u64);

impl Rng {
    pub(crate) fn below(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// The environment of a process that will be killed. It reports to the journal on its standard output.
pub(crate) struct ChildProcess {
    pub(crate) how: u64,
    pub(crate) journal: Arc<Journal>,
    /// The start of its clock, in milliseconds since 1970.
    pub(crate) clock: u64,
    path: PathBuf,
}

impl ChildProcess {
    /// Returns `None` in the process that kills.
    pub(crate) fn from_env() -> Option<Self> {
        let journal = Journal::with_listener(|line| {
            println!("\njournal {line}");
            // Waits for permission to continue, so that the process does not end before it is killed.
            std::io::stdin().read_exact(&mut [0]).unwrap();
        });
        Some(Self {
            how: env::var(HOW).ok()?.parse().unwrap(),
            clock: env::var(CLOCK).ok()?.parse().unwrap(),
            path: env::var_os(PATH)?.into(),
            journal,
        })
    }

    /// Opens the store, which records its acknowledgements.
    pub(crate) fn store(&self, synchronous: Synchronous) -> InstrumentedStore<SqliteCheckpointer> {
        let store =
            SqliteCheckpointer::options().synchronous(synchronous).readers(1).open(&self.path).unwrap();
        InstrumentedStore::new(store, Arc::clone(&self.journal))
    }
}

impl ChildProcess {
    /// Runs a future with a clock that moves only while every task and the store are idle.
    pub(crate) fn run_with_manual_clock<T>(
        &self,
        run: impl AsyncFnOnce(InstrumentedStore<SqliteCheckpointer>, Arc<Timeline>) -> T,
    ) -> T {
        let store = self.store(Synchronous::Normal);
        let journal = Arc::clone(&self.journal);
        let timeline = Timeline::forwarding_to(Journal::with_listener(move |note| {
            journal.record(format!("{note} @{}", millis()))
        }));
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_time().start_paused(true).build().unwrap().block_on(async {
            tokio::time::advance(Duration::from_millis(self.clock.saturating_sub(millis()))).await;
            timeline.note("begun");
            let ticks = async {
                let mut waited = 0;
                loop {
                    // This loop never waits: only it moves the clock.
                    tokio::task::yield_now().await;
                    waited = if store.is_idle() { waited + 1 } else { 0 };
                    if waited > 100 {
                        tokio::time::advance(TICK).await;
                        timeline.note("tick");
                        waited = 0;
                    }
                }
            };
            tokio::select! {
                ran = run(store.clone(), Arc::clone(&timeline)) => ran,
                () = ticks => unreachable!(),
            }
        })
    }
}

/// Returns the time of the clock that drives the timers.
pub(crate) fn clock() -> SystemTime {
    let (wall, ours, timers) =
        (SystemTime::now(), std::time::Instant::now(), tokio::time::Instant::now().into_std());
    match timers.checked_duration_since(ours) {
        Some(ahead) => wall + ahead,
        None => wall - ours.duration_since(timers),
    }
}

/// Returns the same time in milliseconds since 1970.
fn millis() -> u64 {
    u64::try_from(clock().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

/// Starts processes on one file and kills them, one after the other.
pub(crate) struct ProcessKiller {
    /// The path of the test that runs in the process.
    test: &'static str,
    folder: tempfile::TempDir,
    pub(crate) rng: Rng,
    /// The start of the next process's clock.
    pub(crate) clock: u64,
    /// The journal lines of all processes so far.
    pub(crate) lines: Vec<String>,
}

impl ProcessKiller {
    pub(crate) fn new(test: &'static str, seed: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { test, folder, rng: Rng(seed), clock: 0, lines: Vec::new() }
    }

    /// Opens the store to inspect it.
    pub(crate) fn store(&self) -> SqliteCheckpointer {
        SqliteCheckpointer::options().readers(1).open(self.path()).unwrap()
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("threads.db")
    }

    /// Starts a process and kills it after at most `lines` journal lines. Returns `true` if it had ended before.
    pub(crate) fn kill(&mut self, how: u64, lines: u64) -> bool {
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", self.test, "--nocapture"])
            .env(PATH, self.path())
            .env(HOW, how.to_string())
            .env(CLOCK, self.clock.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap())
            .lines()
            .map_while(Result::ok)
            .filter_map(|line| line.strip_prefix("journal ").map(str::to_owned));
        let mut allow = child.stdin.take().unwrap();
        // The process may be up to three lines ahead, so that it is also killed between two lines.
        allow.write_all(&[0; 4][..usize::try_from(self.rng.below(4)).unwrap()]).unwrap();
        let count = usize::try_from(self.rng.below(lines)).unwrap();
        let begun = self.lines.len();
        for line in output.by_ref().take(count) {
            self.lines.push(line);
            // The process may have ended.
            let _ = allow.write_all(&[0]);
        }
        for _ in 0..self.rng.below(2_000) {
            std::thread::yield_now();
        }
        // SIGKILL.
        child.kill().unwrap();
        // The last line may have been cut off.
        self.lines.extend(output);
        drop(allow);
        let status = child.wait().unwrap();
        let lines = &self.lines[begun..];
        assert!(status.success() || status.code().is_none(), "the process failed by itself: {lines:#?}");
        lines.last().is_some_and(|line| line == "done")
    }
}

/// Kills processes of one thread after the other, until the total is reached.
pub(crate) fn kill_until(total: usize, mut kill_until_done: impl FnMut(u64) -> usize) {
    let (mut kills, mut seed) = (0, 0);
    while kills < total {
        kills += kill_until_done(seed);
        seed += 1;
    }
    println!("{kills} kills over {seed} threads");
}
