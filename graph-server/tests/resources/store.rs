use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};

use crate::support::Client;

async fn put(client: &Client, namespace: Value, key: &str, value: Value) {
    let reply =
        client.put("/store/items", json!({ "namespace": namespace, "key": key, "value": value })).await;
    assert_eq!(reply.status, 204, "{}", reply.body);
}

async fn delete(client: &Client, body: Value) -> u16 {
    let request = Request::delete("/store/items").body(Body::from(body.to_string())).unwrap();
    client.send(request).await.status.as_u16()
}

#[tokio::test]
async fn an_item_is_put_read_and_deleted() {
    let client = Client::new().await;
    put(&client, json!(["users", "ann"]), "k", json!({ "x": 1 })).await;
    let item = client.get("/store/items?namespace=users.ann&key=k").await.ok();
    let expected = json!({
        "namespace": ["users", "ann"], "key": "k", "value": { "x": 1 },
        "created_at": item["created_at"], "updated_at": item["updated_at"],
    });
    assert_eq!(item, expected);
    assert_eq!(client.get("/store/items?namespace=users.ann&key=none").await.ok(), Value::Null);
    assert_eq!(delete(&client, json!({ "namespace": ["users", "ann"], "key": "k" })).await, 204);
    assert_eq!(client.get("/store/items?namespace=users.ann&key=k").await.ok(), Value::Null);
    let bad = [
        json!({ "namespace": [], "key": "k", "value": {} }),
        json!({ "namespace": ["a.b"], "key": "k", "value": {} }),
        json!({ "namespace": [""], "key": "k", "value": {} }),
        json!({ "namespace": ["a"], "key": "k", "value": [1] }),
        json!({ "namespace": ["a"], "value": {} }),
        json!({ "namespace": ["a"], "key": "k", "value": {}, "ttl": 0 }),
        json!({ "namespace": ["a"], "key": "k", "value": {}, "index": ["x"] }),
        json!({ "namespace": ["a"], "key": "x".repeat(9_000), "value": {} }),
    ];
    for body in bad {
        client.put("/store/items", body).await.error(422);
    }
    client.get("/store/items?namespace=a").await.error(422);
}

#[tokio::test]
async fn items_are_searched() {
    let client = Client::new().await;
    put(&client, json!(["a"]), "1", json!({ "n": 1, "o": { "t": "x" } })).await;
    put(&client, json!(["a", "b"]), "2", json!({ "n": 2 })).await;
    put(&client, json!(["c"]), "3", json!({ "n": 3 })).await;
    let search = async |body: Value| {
        let found = client.post("/store/items/search", body).await.ok();
        let keys =
            found["items"].as_array().unwrap().iter().map(|item| item["key"].as_str().unwrap().to_owned());
        keys.collect::<Vec<_>>()
    };
    assert_eq!(search(json!({ "namespace_prefix": ["a"] })).await, ["1", "2"]);
    assert_eq!(search(json!({ "namespace_prefix": [] })).await, ["1", "2", "3"], "nothing of the server");
    assert_eq!(search(json!({ "namespace_prefix": [], "limit": 1, "offset": 1 })).await, ["2"]);
    assert_eq!(
        search(json!({ "namespace_prefix": [], "filter": { "n": { "$gte": 2, "$lt": 3 } } })).await,
        ["2"]
    );
    assert_eq!(search(json!({ "namespace_prefix": [], "filter": { "o": { "t": "x" } } })).await, ["1"]);
    assert_eq!(search(json!({ "namespace_prefix": [], "filter": { "n": { "$ne": 1 } } })).await, ["2", "3"]);
    let bad = [
        json!({ "namespace_prefix": ["a"], "query": "meaning" }),
        json!({ "namespace_prefix": ["a"], "filter": { "n": { "$near": 1 } } }),
        json!({ "namespace_prefix": ["a"], "filter": { "n": { "$gt": [] } } }),
        json!({ "namespace_prefix": "a" }),
    ];
    for body in bad {
        client.post("/store/items/search", body).await.error(422);
    }
}

#[tokio::test]
async fn the_records_of_the_server_are_hidden() {
    let client = Client::new().await;
    client.order("tea", json!({})).await;
    put(&client, json!(["a", "b"]), "1", json!({})).await;
    put(&client, json!(["a", "c"]), "2", json!({})).await;
    let list = async |body: Value| client.post("/store/namespaces", body).await.ok()["namespaces"].clone();
    assert_eq!(list(json!({})).await, json!([["a", "b"], ["a", "c"]]));
    assert_eq!(list(json!({ "max_depth": 1 })).await, json!([["a"]]));
    assert_eq!(list(json!({ "suffix": ["c"] })).await, json!([["a", "c"]]));
    let reserved = "\u{10ffff}superstep-server";
    let refused = client.post("/store/items/search", json!({ "namespace_prefix": [reserved] })).await;
    assert!(refused.error(422).contains("belongs to the server"));
    let item = json!({ "namespace": [reserved, "thread"], "key": "k", "value": {} });
    client.put("/store/items", item.clone()).await.error(422);
    assert_eq!(delete(&client, item).await, 422);
    client.get("/store/items?namespace=%F4%8F%BF%BFsuperstep-server.thread&key=k").await.error(422);
}
