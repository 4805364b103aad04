//! A server that listens.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use serde_json::Value;
use superstep_server::{Server, Started};
use tokio::net::TcpListener;

use crate::connection::{LIMIT, call};
use crate::graphs::{self, Gate};

pub(crate) struct Served {
    pub(crate) address: SocketAddr,
    pub(crate) started: Started,
    pub(crate) gate: Gate,
    /// The number of tasks of the graph `wait` that are active.
    pub(crate) active: Arc<AtomicUsize>,
}

impl Served {
    pub(crate) async fn new() -> Self {
        Self::on(Server::new()).await
    }

    /// Starts a server with the stores that the caller has set.
    pub(crate) async fn on(server: Server) -> Self {
        let (gate, active) = (Gate::new(), Arc::new(AtomicUsize::new(0)));
        let context = graphs::Waiting { gate: gate.clone(), active: Arc::clone(&active) };
        let started = server
            .graph("echo", graphs::echo())
            .graph("flood", graphs::flood())
            .graph("steps", graphs::steps())
            .graph_with_context("wait", graphs::wait(), move |_| Ok(context.clone()))
            .start()
            .await
            .expect("the server starts");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let serving = started.clone();
        tokio::spawn(async move { serving.serve(listener, std::future::pending()).await });
        Self { address, started, gate, active }
    }

    pub(crate) async fn ok(&self, method: &str, path: &str, body: Option<Value>) -> Value {
        let (status, body) = call(self.address, method, path, body).await;
        assert_eq!(status, 200, "{path} {body}");
        body
    }

    pub(crate) async fn thread(&self) -> String {
        let thread = self.ok("POST", "/threads", Some(serde_json::json!({}))).await;
        thread["thread_id"].as_str().expect("an id").to_owned()
    }

    /// Waits until a condition holds.
    pub(crate) async fn until(&self, what: &str, condition: impl Fn() -> bool) {
        let waiting = async {
            while !condition() {
                tokio::time::sleep(std::time::Duration::from_millis(2)).await;
            }
        };
        tokio::time::timeout(LIMIT, waiting).await.unwrap_or_else(|_| panic!("{what}"));
    }
}
