//! A process that is killed at any moment, and another one that goes on. The process is this program, started again.

use std::env;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use graph_core::thread::Thread;
use graph_core::{Durability, EventKind, Outcome, StreamMode};
use graph_sqlite::{SqliteCheckpointer, Synchronous};

use crate::job::{Job, end, graph, is_new, is_whole};
use crate::truth::{Truth, acknowledged, nothing_durable_is_done_again};
use crate::watched::Watched;

const PATH: &str = "DURABILITY_TEST_FILE";
const HOW: &str = "DURABILITY_TEST_HOW";
/// Makes the tests kill 200 processes instead of 20.
const LONG: &str = "LONG";

const ROUNDS: u64 = 12;
const LIMIT: u64 = 1_000;

/// Does nothing by itself. In a process that [`run_and_kill`] has started, goes on with the job and tells the truth.
#[test]
fn in_another_process() {
    let (Ok(path), Ok(how)) = (env::var(PATH), env::var(HOW)) else { return };
    let how: u64 = how.parse().unwrap();
    let synchronous = if how & 1 == 0 { Synchronous::Normal } else { Synchronous::Full };
    let durability = if how & 2 == 0 { Durability::Async } else { Durability::Sync };
    let truth = Truth::told_to(|line| {
        println!("\ntold {line}");
        // No further before the other side allows it: it would be at its end before anybody has come to kill it.
        std::io::stdin().read_exact(&mut [0]).unwrap();
    });
    let store = SqliteCheckpointer::options().synchronous(synchronous).readers(1).open(path).unwrap();
    let store = Watched::new(store, std::sync::Arc::clone(&truth));
    let thread = graph().with_checkpointer(store).thread("job");
    let mut runtime = match how & 4 {
        0 => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    runtime.enable_time().build().unwrap().block_on(async {
        let again = || {
            thread
                .run(Job::input(ROUNDS))
                .run_id("once")
                .recursion_limit(LIMIT)
                .durability(durability)
                .context(truth.clone())
        };
        let state = match how & 24 {
            0 => match thread
                .resume(())
                .recursion_limit(LIMIT)
                .durability(durability)
                .context(truth.clone())
                .await
            {
                Ok(outcome) => outcome.into_state(),
                Err(error) if is_new(&error) => again().await.unwrap().into_state(),
                Err(error) => panic!("{error:?}"),
            },
            8 => again().await.unwrap().into_state(),
            _ => {
                let mut events = again().events([StreamMode::Checkpoints]).stream();
                loop {
                    match events.next().await.unwrap().unwrap().kind {
                        EventKind::Checkpoint { id, step } => truth.tell(format!("event {id} {step}")),
                        EventKind::Done(Outcome::Done(state)) => break state,
                        _ => {}
                    }
                }
            }
        };
        assert_eq!(state, end(ROUNDS));
        truth.tell("done");
    });
}

/// A small generator of random numbers: what a seed does can be done again.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// Starts a process and kills it after some lines; what it told, and whether it had told of its end before.
fn run_and_kill(path: &Path, by_id: bool, dice: &mut Dice) -> (Vec<String>, bool) {
    // Whoever goes on by the run's id does so each time: a resumption is another run.
    let how = dice.roll(8) + if by_id { 8 + 8 * dice.roll(2) } else { 0 };
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "killed::in_another_process", "--nocapture"])
        .env(PATH, path)
        .env(HOW, how.to_string())
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
    allow.write_all(&[0; 4][..usize::try_from(dice.roll(4)).unwrap()]).unwrap();
    let count = usize::try_from(dice.roll(40)).unwrap();
    let mut lines = Vec::new();
    for line in told.by_ref().take(count) {
        lines.push(line);
        // It may have come to its end.
        let _ = allow.write_all(&[0]);
    }
    for _ in 0..dice.roll(2_000) {
        std::thread::yield_now();
    }
    // SIGKILL.
    child.kill().unwrap();
    lines.extend(told);
    drop(allow);
    let status = child.wait().unwrap();
    assert!(status.success() || status.code().is_none(), "the process failed by itself: {lines:#?}");
    let ended = lines.last().is_some_and(|line| line == "done");
    (lines, ended)
}

/// Kills the processes of one thread until the job is done; how many it took.
fn until_it_is_done(seed: u64) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.db");
    let about = format!("seed {seed}");
    let mut dice = Dice(seed);
    let mut lines: Vec<String> = Vec::new();
    let mut kills = 0;
    loop {
        let (told, ended) = run_and_kill(&path, seed % 2 == 1, &mut dice);
        // The last line may have been cut off.
        lines.extend(told);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let store = SqliteCheckpointer::options().readers(1).open(&path).unwrap();
            let thread: Thread<Job, Truth> = graph().with_checkpointer(store).thread("job");
            let there = is_whole(&thread, &about).await;
            for id in acknowledged(&lines) {
                assert!(there.contains(&id), "{about}: {id} was acknowledged and is not there");
            }
            if ended {
                assert_eq!(thread.state().await.unwrap().unwrap().state, Some(end(ROUNDS)), "{about}");
            }
        });
        nothing_durable_is_done_again(&lines, &about);
        if ended {
            return kills;
        }
        kills += 1;
    }
}

/// `LONG=1` makes it 200.
#[test]
fn a_job_whose_processes_are_killed_twenty_times_comes_to_its_end_and_does_nothing_twice() {
    let wanted = if env::var_os(LONG).is_some() { 200 } else { 20 };
    let (mut kills, mut seed) = (0, 0);
    while kills < wanted {
        kills += until_it_is_done(seed);
        seed += 1;
    }
    println!("{kills} kills over {seed} threads");
}
