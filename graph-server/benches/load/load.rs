use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::http::Client;
use crate::memory::resident;
use crate::times::Times;

/// The measurements of one server.
pub(crate) struct Load {
    /// The host and the port.
    pub(crate) address: String,
    /// The time of each measurement. `None` to do everything once.
    pub(crate) time: Option<Duration>,
    /// The number of streams that are held open.
    pub(crate) streams: u64,
    /// The process of the server.
    pub(crate) pid: Option<u64>,
}

const CLIENTS: [usize; 3] = [1, 8, 32];

fn run() -> Value {
    json!({ "assistant_id": "three", "input": { "text": "a", "log": [] } })
}

/// A request that is measured.
#[derive(Clone)]
enum Request {
    /// A run and its result.
    Wait,
    /// The first event of a run.
    FirstEvent,
    /// The state of a thread.
    State(String),
}

impl Request {
    /// Makes the request. Returns the time until the measured response.
    async fn make(&self, client: &mut Client) -> Duration {
        let began = Instant::now();
        match self {
            Self::Wait => {
                let values = client.call("POST", "/runs/wait", Some(&run())).await;
                assert_eq!(values["log"].as_array().map(Vec::len), Some(3), "{values}");
            }
            Self::FirstEvent => {
                client.first_event("/runs/stream", &run()).await;
                let first = began.elapsed();
                client.end().await;
                return first;
            }
            Self::State(path) => {
                let state = client.call("GET", path, None).await;
                assert_eq!(state["values"]["log"].as_array().map(Vec::len), Some(3), "{state}");
            }
        }
        began.elapsed()
    }
}

impl Load {
    pub(crate) async fn run(&self) {
        self.one(&Request::Wait).await;
        self.print_memory("memory idle");
        println!(
            "| request | clients | requests | per second | p50 ms | p99 ms |\n|---|---|---|---|---|---|"
        );
        for clients in CLIENTS {
            self.measure("`/runs/wait`", Request::Wait, clients).await;
        }
        for clients in CLIENTS {
            self.measure("first event of `/runs/stream`", Request::FirstEvent, clients).await;
        }
        let state = self.thread_with_state().await;
        for clients in CLIENTS {
            self.measure("`GET state`", state.clone(), clients).await;
        }
        self.print_memory("memory after the load");
        self.open_streams().await;
    }

    /// Makes a request that is not measured.
    async fn one(&self, request: &Request) {
        request.make(&mut Client::connect(&self.address).await).await;
    }

    async fn thread_with_state(&self) -> Request {
        let mut client = Client::connect(&self.address).await;
        let thread = client.call("POST", "/threads", Some(&json!({}))).await;
        let thread = thread["thread_id"].as_str().expect("an id").to_owned();
        client.call("POST", &format!("/threads/{thread}/runs/wait"), Some(&run())).await;
        Request::State(format!("/threads/{thread}/state"))
    }

    /// Makes requests with several clients at once, each as fast as it gets responses.
    async fn measure(&self, what: &str, request: Request, clients: usize) {
        let began = Instant::now();
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..clients {
            let (address, request, time) = (self.address.clone(), request.clone(), self.time);
            tasks.spawn(async move {
                let mut client = Client::connect(&address).await;
                let mut times = vec![request.make(&mut client).await];
                while time.is_some_and(|time| began.elapsed() < time) {
                    times.push(request.make(&mut client).await);
                }
                times
            });
        }
        let times = tasks.join_all().await.concat();
        Times::new(times, began.elapsed()).print(what, clients);
    }

    fn memory(&self) -> Option<u64> {
        self.pid.and_then(resident)
    }

    fn print_memory(&self, what: &str) {
        if let Some(memory) = self.memory() {
            println!("{what}: {:.1} MiB", memory as f64 / 1024.0);
        }
    }

    /// Holds streams of runs open, and prints the memory of each.
    async fn open_streams(&self) {
        let before = self.memory();
        let body = json!({
            "assistant_id": "wait", "input": { "text": "a", "log": [] }, "on_disconnect": "cancel",
            "stream_mode": ["values", "updates"],
        });
        let mut open = Vec::new();
        for _ in 0..self.streams {
            let mut client = Client::connect(&self.address).await;
            client.open("/runs/stream", &body).await;
            open.push(client);
        }
        // The runs begin meanwhile. A server with few workers keeps some of them waiting, so no event is waited for.
        tokio::time::sleep(self.time.map_or(Duration::ZERO, |_| Duration::from_secs(2))).await;
        if let (Some(before), Some(after)) = (before, self.memory()) {
            let each = after.saturating_sub(before) as f64 / self.streams as f64;
            println!("memory of each of {} open streams: {each:.1} KiB", self.streams);
        }
    }
}
