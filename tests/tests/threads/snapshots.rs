//! Snapshots as JSON.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use superstep::checkpoint::MemoryCheckpointer;
use superstep::interrupt::Question;
use superstep::{Context, END, GraphState, NodeError, START, StateGraph};

#[derive(GraphState, Clone)]
struct Order {
    #[state(input)]
    price: u32,
    #[state(exclude)]
    card: String,
    #[state(untracked)]
    clicks: u32,
    approved: Option<bool>,
    note: String,
}

#[derive(Serialize, Deserialize)]
struct Approve {
    price: u32,
}

impl Question for Approve {
    type Answer = bool;
}

async fn read(_: &Order) -> OrderUpdate {
    Order::update().card("4711 0815").clicks(3_u32)
}

async fn approve(order: &Order, cx: &Context) -> OrderUpdate {
    Order::update().approved(cx.interrupt(Approve { price: order.price }).await)
}

async fn log(_: &Order) -> OrderUpdate {
    Order::update().note("logged").card("4711 0816")
}

async fn fail(_: &Order) -> Result<OrderUpdate, NodeError> {
    Err(NodeError::msg("the printer is on fire"))
}

/// The snapshot without the parts that differ from run to run.
fn stable(mut snapshot: Value) -> Value {
    let map = snapshot.as_object_mut().unwrap();
    assert!(map.remove("created_at_ms").unwrap().as_u64().unwrap() > 1_700_000_000_000);
    for key in ["id", "parent", "run_id"] {
        assert!(map.remove(key).unwrap().is_string());
    }
    for task in map["tasks"].as_array_mut().unwrap() {
        assert!(task.as_object_mut().unwrap().remove("id").unwrap().is_string());
        for open in task["interrupts"].as_array_mut().unwrap() {
            assert!(open.as_object_mut().unwrap().remove("id").unwrap().is_string());
        }
    }
    snapshot
}

#[tokio::test]
async fn snapshot_serializes_by_the_dump_rules() {
    let graph = StateGraph::<Order>::new()
        .edge(START, read)
        .edge(read, (approve, log))
        .edge(approve, END)
        .edge(log, END)
        .compile()
        .unwrap();
    let thread = graph.with_checkpointer(MemoryCheckpointer::new()).thread("17");
    thread.run(Order::input(17)).metadata("user", "ann").await.unwrap();

    let snapshot = thread.state().await.unwrap().unwrap();
    let json = serde_json::to_value(&snapshot).unwrap();
    assert!(!json.to_string().contains("4711") && !json.to_string().contains("clicks"), "{json}");
    assert_eq!(
        stable(json),
        json!({
            "thread": "17",
            "namespace": "", "epoch": 1,
            "source": "loop",
            "step": 1,
            "graph_changed": false,
            "metadata": {"user": "ann"},
            "state": {"price": 17, "approved": null, "note": ""},
            "next": ["approve", "log"],
            "tasks": [
                {"node": "approve", "status": "waiting_for_answer", "interrupts": [
                    {
                        "node": "approve", "task": 0, "name": "Approve", "question": {"price": 17},
                        "answer_schema": {"type": "boolean"},
                    },
                ]},
                {"node": "log", "status": "finished", "interrupts": [], "result": [{"note": "logged"}]},
            ],
            "joins": [],
        })
    );
}

#[tokio::test]
async fn snapshot_of_a_failed_task_has_its_error() {
    let graph = StateGraph::<Order>::new().edge(START, fail).edge(fail, END).compile().unwrap();
    let thread = graph.with_checkpointer(MemoryCheckpointer::new()).thread("17");
    thread.run(Order::input(17)).await.unwrap_err();

    let json = serde_json::to_value(thread.state().await.unwrap().unwrap()).unwrap();
    assert_eq!(
        json["tasks"][0]["error"],
        json!({"text": "the printer is on fire", "attempt": 1, "panicked": false, "error_type": "superstep::NodeError"})
    );
}

#[tokio::test]
async fn snapshot_before_the_input_is_applied_has_no_state() {
    let graph = StateGraph::<Order>::new().edge(START, read).edge(read, END).compile().unwrap();
    let thread = graph.with_checkpointer(MemoryCheckpointer::new()).thread("17");
    thread.run(Order::input(17)).await.unwrap();

    let first = thread.history().await.unwrap().pop().unwrap();
    let json = serde_json::to_value(first).unwrap();
    assert_eq!(
        (&json["state"], &json["next"], &json["parent"]),
        (&Value::Null, &json!(["START"]), &Value::Null)
    );
}
