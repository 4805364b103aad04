//! Processes that are killed at any moment. Each is this program, started again.

use std::env;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use superstep_sqlite::{SqliteCheckpointer, Synchronous};

use crate::instants::{TICK, World};
use crate::truth::Truth;
use crate::watched::Watched;

const PATH: &str = "DURABILITY_TEST_FILE";
const HOW: &str = "DURABILITY_TEST_HOW";
const CLOCK: &str = "DURABILITY_TEST_CLOCK";

/// Makes the tests kill ten times as many processes.
const LONG: &str = "LONG";

/// So many kills, or ten times as many if somebody has the time.
pub(crate) fn wanted(kills: usize) -> usize {
    if env::var_os(LONG).is_some() { 10 * kills } else { kills }
}

/// A small generator of random numbers: what a seed does can be done again.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// What a process that is to be killed finds; it tells the truth on its standard output.
pub(crate) struct Here {
    pub(crate) how: u64,
    pub(crate) truth: Arc<Truth>,
    /// What its clock shall show, in milliseconds since 1970.
    pub(crate) clock: u64,
    path: PathBuf,
}

impl Here {
    /// Nothing in the process that kills.
    pub(crate) fn find() -> Option<Self> {
        let truth = Truth::told_to(|line| {
            println!("\ntold {line}");
            // No further before the other side allows it: it would be at its end before anybody has come to kill it.
            std::io::stdin().read_exact(&mut [0]).unwrap();
        });
        Some(Self {
            how: env::var(HOW).ok()?.parse().unwrap(),
            clock: env::var(CLOCK).ok()?.parse().unwrap(),
            path: env::var_os(PATH)?.into(),
            truth,
        })
    }

    /// The store, which tells what it has acknowledged.
    pub(crate) fn store(&self, synchronous: Synchronous) -> Watched<SqliteCheckpointer> {
        let store =
            SqliteCheckpointer::options().synchronous(synchronous).readers(1).open(&self.path).unwrap();
        Watched::new(store, Arc::clone(&self.truth))
    }
}

impl Here {
    /// Runs something by a clock that stands still while anything is done, and goes on while everybody waits.
    pub(crate) fn by_the_clock<T>(
        &self,
        run: impl AsyncFnOnce(Watched<SqliteCheckpointer>, Arc<World>) -> T,
    ) -> T {
        let store = self.store(Synchronous::Normal);
        let truth = Arc::clone(&self.truth);
        let world = World::told_to(Truth::told_to(move |note| truth.tell(format!("{note} @{}", millis()))));
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_time().start_paused(true).build().unwrap().block_on(async {
            tokio::time::advance(Duration::from_millis(self.clock.saturating_sub(millis()))).await;
            world.note("begun");
            let ticks = async {
                let mut waited = 0;
                loop {
                    // It never waits itself: nobody but this moves the clock.
                    tokio::task::yield_now().await;
                    waited = if store.is_idle() { waited + 1 } else { 0 };
                    if waited > 100 {
                        tokio::time::advance(TICK).await;
                        world.note("tick");
                        waited = 0;
                    }
                }
            };
            tokio::select! {
                ran = run(store.clone(), Arc::clone(&world)) => ran,
                () = ticks => unreachable!(),
            }
        })
    }
}

/// What the clock shows that timers run by.
pub(crate) fn clock() -> SystemTime {
    let (wall, ours, timers) =
        (SystemTime::now(), std::time::Instant::now(), tokio::time::Instant::now().into_std());
    match timers.checked_duration_since(ours) {
        Some(ahead) => wall + ahead,
        None => wall - ours.duration_since(timers),
    }
}

/// The same in milliseconds since 1970.
fn millis() -> u64 {
    u64::try_from(clock().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

/// A file whose processes are killed, one after the other.
pub(crate) struct Victim {
    /// The test that is the process.
    test: &'static str,
    folder: tempfile::TempDir,
    pub(crate) dice: Dice,
    /// What its clock shows when a process begins.
    pub(crate) clock: u64,
    /// What all processes have told so far.
    pub(crate) lines: Vec<String>,
}

impl Victim {
    pub(crate) fn new(test: &'static str, seed: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { test, folder, dice: Dice(seed), clock: 0, lines: Vec::new() }
    }

    /// The store, as who looks at what is left has it.
    pub(crate) fn store(&self) -> SqliteCheckpointer {
        SqliteCheckpointer::options().readers(1).open(self.path()).unwrap()
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("threads.db")
    }

    /// Starts a process and kills it after so many lines at most; whether it had told of its end before.
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
        let mut told = BufReader::new(child.stdout.take().unwrap())
            .lines()
            .map_while(Result::ok)
            .filter_map(|line| line.strip_prefix("told ").map(str::to_owned));
        let mut allow = child.stdin.take().unwrap();
        // So many lines it may be ahead, so that it is killed between two lines too.
        allow.write_all(&[0; 4][..usize::try_from(self.dice.roll(4)).unwrap()]).unwrap();
        let count = usize::try_from(self.dice.roll(lines)).unwrap();
        let begun = self.lines.len();
        for line in told.by_ref().take(count) {
            self.lines.push(line);
            // It may have come to its end.
            let _ = allow.write_all(&[0]);
        }
        for _ in 0..self.dice.roll(2_000) {
            std::thread::yield_now();
        }
        // SIGKILL.
        child.kill().unwrap();
        // The last line may have been cut off.
        self.lines.extend(told);
        drop(allow);
        let status = child.wait().unwrap();
        let lines = &self.lines[begun..];
        assert!(status.success() || status.code().is_none(), "the process failed by itself: {lines:#?}");
        lines.last().is_some_and(|line| line == "done")
    }
}

/// Kills processes, of one thread after the other, until there were so many.
pub(crate) fn kills(wanted: usize, mut until_it_is_done: impl FnMut(u64) -> usize) {
    let (mut kills, mut seed) = (0, 0);
    while kills < wanted {
        kills += until_it_is_done(seed);
        seed += 1;
    }
    println!("{kills} kills over {seed} threads");
}
