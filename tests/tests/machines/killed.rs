//! A process is killed inside a node, and another process resumes at the planned node.
//! The killed process is this program, started again.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};
use superstep::machine::{End, Machine, To, to};
use superstep::{Context, Durability, GraphState};
use superstep_sqlite::SqliteCheckpointer;

const PATH: &str = "MACHINES_TEST_FILE";

#[derive(GraphState, Clone)]
struct Log {
    #[state(reducer = append)]
    counted: Vec<u32>,
}

#[derive(Machine)]
#[machine(nodes(CountDown), state = Log, output = usize)]
struct Rocket;

#[derive(Serialize, Deserialize, Debug)]
struct CountDown {
    from: u32,
    words: Vec<String>,
}

impl CountDown {
    async fn run(&self, log: &Log, cx: &Context) -> (LogUpdate, To<Rocket, (CountDown, End<usize>)>) {
        if self.from == 7 && cx.metadata().contains_key("dies here") {
            println!("\nat 7");
            // Blocks until the process is killed.
            let _ = std::io::stdin().read(&mut [0]);
        }
        let update = Log::update().counted([self.from]);
        if self.from == 0 {
            return (update, to(End(log.counted.len())));
        }
        let mut words = self.words.clone();
        words.push(format!("{}…", self.from));
        (update, to(CountDown { from: self.from - 1, words }))
    }
}

fn thread(path: impl AsRef<Path>) -> superstep::thread::Thread<RocketRun> {
    let store = SqliteCheckpointer::open(path).unwrap();
    Rocket::compile().unwrap().with_checkpointer(store).thread("rocket")
}

/// The child process; passes without the environment variable.
#[tokio::test]
async fn in_another_process() {
    let Ok(path) = std::env::var(PATH) else { return };
    let run = thread(path).run(Rocket::start(CountDown { from: 10, words: Vec::new() }));
    let _ = run.metadata("dies here", true).durability(Durability::Sync).await;
}

#[tokio::test]
async fn killed_machine_resumes_at_the_planned_node() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rocket.db");
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["killed::in_another_process", "--exact", "--nocapture"])
        .env(PATH, &path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line == "at 7"));
    child.kill().unwrap();
    child.wait().unwrap();

    let thread = thread(&path);
    let mut run = thread.resume(()).iter().await.unwrap().unwrap();
    let Some(RocketNode::CountDown(planned)) = run.planned() else { panic!("{run:?}") };
    assert_eq!((planned.from, &*planned.words), (7, &["10…", "9…", "8…"].map(String::from)[..]));
    assert_eq!(run.state().counted, [10, 9, 8]);
    run.next().await.unwrap();
    let ended = run.finish().await.unwrap().ended().unwrap();
    assert_eq!((ended.output, ended.state.counted.len()), (10, 11));
}
