//! Shows a state machine: nodes are structs with data, and the return type of each node lists its edges.
//! Run with `cargo run -p examples --bin 19_traffic_light`.

use serde::{Deserialize, Serialize};
use superstep::GraphState;
use superstep::machine::{End, Machine, To, to};

#[derive(GraphState, Clone)]
struct Traffic {
    #[state(reducer = append)]
    seen: Vec<String>,
}

#[derive(Machine)]
#[machine(nodes(Red, Green, Yellow), state = Traffic, output = usize)]
struct TrafficLight;

#[derive(Serialize, Deserialize)]
struct Red;

impl Red {
    async fn run(&self, traffic: &Traffic) -> (TrafficUpdate, To<TrafficLight, (Green, End<usize>)>) {
        let seen = Traffic::update().seen(["red".to_owned()]);
        (seen, if traffic.seen.len() < 6 { to(Green { cars: 3 }) } else { to(End(traffic.seen.len())) })
    }
}

#[derive(Serialize, Deserialize)]
struct Green {
    cars: u32,
}

impl Green {
    async fn run(&self) -> (TrafficUpdate, Yellow) {
        (Traffic::update().seen([format!("green for {} cars", self.cars)]), Yellow)
    }
}

#[derive(Serialize, Deserialize)]
struct Yellow;

impl Yellow {
    async fn run(&self) -> (TrafficUpdate, Red) {
        (Traffic::update().seen(["yellow".to_owned()]), Red)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> superstep::Result<()> {
    let light = TrafficLight::compile()?;
    println!("{}", light.picture().start(TrafficLight::node::<Red>()).to_mermaid()?);

    let mut run = light.run(Red).iter()?;
    while let Some(node) = run.next().await? {
        println!("next: {node:?}");
    }
    assert_eq!(run.output(), Some(&6));
    assert_eq!(run.state().seen.last().map(String::as_str), Some("red"));
    Ok(())
}
