use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};

use crate::support::Client;

const UNKNOWN: &str = "00000000-0000-7000-8000-000000000000";

fn ids(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|thread| thread["thread_id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_thread_is_created_changed_and_deleted() {
    let client = Client::new().await;
    let thread = client.post("/threads", json!({ "metadata": { "user": "ann" } })).await.ok();
    let id = thread["thread_id"].as_str().unwrap();
    let expected = json!({
        "thread_id": id, "created_at": thread["created_at"], "updated_at": thread["created_at"],
        "state_updated_at": thread["created_at"], "metadata": { "user": "ann" }, "status": "idle", "config": {},
        "context": {}, "values": null, "error": null, "interrupts": {},
    });
    assert_eq!(thread, expected);
    assert!(thread["created_at"].as_str().unwrap().ends_with("+00:00"));
    let path = format!("/threads/{id}");
    assert_eq!(client.get(&path).await.ok(), expected);
    let changed = client.patch(&path, json!({ "metadata": { "title": "tea" } })).await.ok();
    assert_eq!(changed["metadata"], json!({ "user": "ann", "title": "tea" }));
    let minimal = Request::patch(&path).header("prefer", "return=minimal").body(Body::from("{}")).unwrap();
    let reply = client.send(minimal).await;
    assert_eq!((reply.status.as_u16(), &*reply.body), (204, ""));
    assert_eq!(client.delete(&path).await.status, 204);
    for reply in [client.delete(&path).await, client.get(&path).await, client.patch(&path, json!({})).await] {
        assert_eq!(reply.error(404), format!("Thread with ID {id} not found"));
    }
    assert_eq!(client.get("/threads/tea").await.error(422), "Invalid thread ID: must be a UUID");
}

#[tokio::test]
async fn a_client_may_choose_the_id() {
    let client = Client::new().await;
    let body = json!({ "thread_id": UNKNOWN, "metadata": { "n": 1 } });
    assert_eq!(client.post("/threads", body.clone()).await.ok()["thread_id"], UNKNOWN);
    assert_eq!(
        client.post("/threads", body).await.error(409),
        format!("Thread with ID {UNKNOWN} already exists")
    );
    let again = json!({ "thread_id": UNKNOWN, "if_exists": "do_nothing", "metadata": { "n": 2 } });
    assert_eq!(client.post("/threads", again).await.ok()["metadata"], json!({ "n": 1 }));
    let body =
        json!({ "thread_id": "tea", "if_exists": "maybe", "ttl": { "strategy": "delete" }, "metadata": [] });
    assert_eq!(
        client.post("/threads", body).await.error(422),
        "`thread_id`: expected a UUID; `metadata`: expected an object, found an array; `if_exists`: expected one of \
         `raise`, `do_nothing`; `ttl.ttl`: required"
    );
}

#[tokio::test]
async fn a_thread_has_a_time_to_live() {
    let client = Client::new().await;
    let body = json!({ "ttl": { "ttl": 5, "strategy": "keep_latest" } });
    let id = client.post("/threads", body).await.ok()["thread_id"].as_str().unwrap().to_owned();
    assert_eq!(client.get(&format!("/threads/{id}")).await.ok().get("ttl"), None);
    let ttl = &client.get(&format!("/threads/{id}?include=ttl")).await.ok()["ttl"];
    assert_eq!((&ttl["ttl_minutes"], &ttl["strategy"]), (&json!(5.0), &json!("keep_latest")));
    client.patch(&format!("/threads/{id}"), json!({ "metadata": {}, "ttl": 0.5 })).await.ok();
    let ttl = &client.get(&format!("/threads/{id}?include=ttl")).await.ok()["ttl"];
    assert_eq!((&ttl["ttl_minutes"], &ttl["strategy"]), (&json!(0.5), &json!("delete")));
    client.patch(&format!("/threads/{id}"), json!({ "ttl": -1 })).await.error(422);
}

#[tokio::test]
async fn supersteps_make_the_first_state() {
    let client = Client::new().await;
    let id = client.order("tea", json!({})).await;
    let thread = client.get(&format!("/threads/{id}")).await.ok();
    assert_eq!(thread["values"], json!({ "item": "tea", "log": [] }));
    assert_eq!(thread["status"], "interrupted", "a node is planned");
    let first = |values: Value| json!([{ "updates": [{ "values": values, "as_node": "__start__" }] }]);
    let create = async |metadata, supersteps| {
        let body = json!({ "thread_id": UNKNOWN, "metadata": metadata, "supersteps": supersteps });
        client.post("/threads", body).await.error(422)
    };
    assert!(create(json!({}), first(json!({ "item": "tea" }))).await.contains("`metadata.graph_id`"));
    assert!(
        create(json!({ "graph_id": "none" }), first(json!({ "item": "tea" })))
            .await
            .contains("'none' not found")
    );
    assert!(create(json!({ "graph_id": "orders" }), first(json!({ "item": 1 }))).await.contains("item"));
    assert!(
        create(json!({ "graph_id": "orders" }), json!([{ "updates": 1 }]))
            .await
            .contains("supersteps[0].updates")
    );
    client.get(&format!("/threads/{UNKNOWN}")).await.error(404);
}

#[tokio::test]
async fn a_copy_has_the_state_and_lives_on_its_own() {
    let client = Client::new().await;
    let id = client.order("tea", json!({ "user": "ann" })).await;
    let original = client.get(&format!("/threads/{id}")).await.ok();
    let request = Request::post(format!("/threads/{id}/copy")).body(Body::empty()).unwrap();
    let copy = client.send(request).await.ok();
    assert_ne!(copy["thread_id"], original["thread_id"]);
    for field in ["values", "metadata", "status", "interrupts"] {
        assert_eq!(copy[field], original[field], "{field}");
    }
    client.delete(&format!("/threads/{id}")).await;
    let path = format!("/threads/{}", copy["thread_id"].as_str().unwrap());
    assert_eq!(client.get(&path).await.ok()["values"], original["values"]);
    client
        .send(Request::post(format!("/threads/{UNKNOWN}/copy")).body(Body::empty()).unwrap())
        .await
        .error(404);
}

#[tokio::test]
async fn a_search_has_filters_pages_and_orders() {
    let client = Client::new().await;
    let tea = client.order("tea", json!({ "user": "ann", "o": { "n": 1 } })).await;
    let milk = client.order("milk", json!({ "user": "ann" })).await;
    let empty = client.post("/threads", json!({ "metadata": { "user": "bob" } })).await.ok();
    let empty = empty["thread_id"].as_str().unwrap();
    let search = async |body: Value| client.post("/threads/search", body).await;
    let check = async |body: Value, expected: &[&str]| assert_eq!(ids(&search(body).await.ok()), expected);
    check(json!({}), &[empty, &milk, &tea]).await;
    client.patch(&format!("/threads/{tea}"), json!({ "metadata": {} })).await.ok();
    check(json!({}), &[&tea, empty, &milk]).await;
    check(json!({ "sort_by": "created_at", "sort_order": "asc" }), &[&tea, &milk, empty]).await;
    check(json!({ "sort_by": "thread_id", "sort_order": "desc" }), &[empty, &milk, &tea]).await;
    check(json!({ "metadata": { "user": "ann" } }), &[&tea, &milk]).await;
    check(json!({ "metadata": { "o": { "n": 1 } } }), &[&tea]).await;
    check(json!({ "metadata": { "graph_id": "orders" }, "limit": 1, "offset": 1 }), &[&milk]).await;
    check(json!({ "status": "idle" }), &[empty]).await;
    check(json!({ "ids": [milk, UNKNOWN] }), &[&milk]).await;
    check(json!({ "values": { "item": "milk" } }), &[&milk]).await;
    check(json!({ "values": { "log": [] } }), &[&tea, &milk]).await;
    check(json!({ "values": { "card": "" } }), &[]).await;
    let reply = search(json!({ "limit": 2 })).await;
    assert_eq!(
        (reply.header("x-pagination-total"), reply.header("x-pagination-next")),
        (Some("3"), Some("2"))
    );
    let reply = search(json!({ "limit": 2, "offset": 2 })).await;
    assert_eq!((reply.header("x-pagination-total"), reply.header("x-pagination-next")), (Some("3"), None));
    assert_eq!(client.post("/threads/count", json!({})).await.ok(), 3);
    assert_eq!(client.post("/threads/count", json!({ "values": { "item": "tea" } })).await.ok(), 1);
    let body = json!({ "limit": 1_001, "offset": -1, "status": "done", "sort_by": "x", "select": ["x"], "ids": ["x"] });
    let detail = search(body).await.error(422);
    for field in ["`limit`", "`offset`", "`status`", "`sort_by`", "`select[0]`", "`ids[0]`"] {
        assert!(detail.contains(field), "{field}: {detail}");
    }
}

#[tokio::test]
async fn a_search_selects_and_extracts() {
    let client = Client::new().await;
    let tea = client.order("tea", json!({ "tags": ["a", "b"] })).await;
    let search = async |body| client.post("/threads/search", body).await;
    let found = search(json!({ "select": ["thread_id", "values"] })).await.ok();
    assert_eq!(found, json!([{ "thread_id": tea, "values": { "item": "tea", "log": [] } }]));
    let paths = json!({ "item": "values.item", "last": "metadata.tags[-1]", "none": "values.log[0]" });
    let found = search(json!({ "select": ["thread_id"], "extract": paths })).await.ok();
    let extracted = json!({ "item": "tea", "last": "b", "none": null });
    assert_eq!(found, json!([{ "thread_id": tea, "extracted": extracted }]));
    for path in ["values..x", "secrets", "values[x]"] {
        search(json!({ "extract": { "a": path } })).await.error(422);
    }
    let many: Value =
        (0..11).map(|n| (n.to_string(), json!("values"))).collect::<serde_json::Map<_, _>>().into();
    search(json!({ "extract": many })).await.error(422);
}

#[tokio::test]
async fn threads_are_pruned() {
    let client = Client::new().await;
    let (a, b) = (client.order("tea", json!({})).await, client.order("milk", json!({})).await);
    let prune = async |body| client.post("/threads/prune", body).await;
    let kept = prune(json!({ "thread_ids": [a, UNKNOWN], "strategy": "keep_latest" })).await.ok();
    assert_eq!(kept, json!({ "pruned_count": 1 }));
    assert_eq!(client.get(&format!("/threads/{a}")).await.ok()["values"]["item"], "tea");
    assert_eq!(
        prune(json!({ "thread_ids": [a, b], "strategy": "delete" })).await.ok(),
        json!({ "pruned_count": 2 })
    );
    client.get(&format!("/threads/{a}")).await.error(404);
    prune(json!({ "thread_ids": ["x"], "strategy": "x" })).await.error(422);
}

#[tokio::test]
async fn an_assistant_is_deleted_with_its_threads() {
    let client = Client::new().await;
    let id = client.post("/assistants", json!({ "graph_id": "orders" })).await.ok();
    let id = id["assistant_id"].as_str().unwrap();
    let theirs = client.post("/threads", json!({ "metadata": { "assistant_id": id } })).await.ok();
    let other = client.post("/threads", json!({})).await.ok();
    assert_eq!(client.delete(&format!("/assistants/{id}?delete_threads=true")).await.status, 204);
    client.get(&format!("/threads/{}", theirs["thread_id"].as_str().unwrap())).await.error(404);
    client.get(&format!("/threads/{}", other["thread_id"].as_str().unwrap())).await.ok();
}
