//! The graphs of this server: those of `benches/peers/agent-server/graph.py`.

use std::time::Duration;

use superstep::{END, GraphState, START, StateGraph};
use superstep_server::Server;
use tokio::net::TcpListener;

#[derive(GraphState, Clone)]
struct Text {
    #[state(input)]
    text: String,
    #[state(reducer = append)]
    log: Vec<String>,
}

async fn one(state: &Text) -> TextUpdate {
    Text::update().log([format!("one {}", state.text)])
}

async fn two(state: &Text) -> TextUpdate {
    Text::update().log([format!("two {}", state.text)])
}

async fn three(state: &Text) -> TextUpdate {
    Text::update().log([format!("three {}", state.text)])
}

async fn sleep(_: &Text) {
    tokio::time::sleep(Duration::from_secs(600)).await;
}

/// Serves the graphs, and prints the address.
pub(crate) async fn serve() {
    let chain = StateGraph::<Text>::new().edge(START, one).edge(one, two).edge(two, three).edge(three, END);
    let wait = StateGraph::<Text>::new().edge(START, sleep).edge(sleep, END);
    let server = Server::new()
        .graph("three", chain.compile().expect("a graph"))
        .graph("wait", wait.compile().expect("a graph"));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    println!("http://{}", listener.local_addr().expect("an address"));
    let started = server.start().await.expect("the server starts");
    started.serve(listener, std::future::pending()).await.expect("the server serves");
}
