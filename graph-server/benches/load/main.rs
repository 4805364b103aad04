//! The load that an agent server carries: runs, first events, reads of a state, and memory. It knows the protocol only, so that
//! servers can be compared.
//!
//! ```console
//! $ cargo bench -p superstep-server --bench load                    # this server, which it starts
//! $ cargo bench -p superstep-server --bench load -- --url http://127.0.0.1:2025 --pid 4711
//! ```
//!
//! The other server has the graphs `three` and `wait` of `benches/peers/agent-server`. `--pid` is its process, for the memory;
//! `--seconds` is the time of each measurement, `--streams` the number of streams that are held open.
//!
//! Without `--bench`, as in tests, everything is done once.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a measurement ends with the first failure"
)]

mod graphs;
mod http;
mod load;
mod memory;
mod times;

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use load::Load;

/// A server in a process of its own.
struct Own(Child);

impl Own {
    /// Starts this program as a server. Returns it with its address.
    fn start() -> (Self, String) {
        let program = std::env::current_exe().expect("this program");
        let mut child =
            Command::new(program).arg("--serve").stdout(Stdio::piped()).spawn().expect("a server");
        let output = child.stdout.take().expect("its output");
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line).expect("its address");
        (Self(child), line.trim().to_owned())
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _status = self.0.wait();
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    let value = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        Some(arguments.get(at + 1).unwrap_or_else(|| panic!("{name} needs a value")).clone())
    };
    let number = |name: &str| value(name).map(|text| text.parse::<u64>().expect("a number"));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    if has("--serve") {
        return runtime.block_on(graphs::serve());
    }
    let own = value("--url").is_none().then(Own::start);
    let (url, pid) = match &own {
        Some((own, url)) => (url.clone(), Some(u64::from(own.0.id()))),
        None => (value("--url").unwrap_or_default(), number("--pid")),
    };
    let measures = has("--bench") || value("--url").is_some();
    let load = Load {
        address: url.strip_prefix("http://").unwrap_or(&url).trim_end_matches('/').to_owned(),
        time: measures.then(|| Duration::from_secs(number("--seconds").unwrap_or(5))),
        streams: if measures { number("--streams").unwrap_or(100) } else { 2 },
        pid,
    };
    runtime.block_on(load.run());
}
