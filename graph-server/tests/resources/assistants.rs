use serde_json::{Value, json};

use crate::support::Client;

async fn default_id(client: &Client) -> String {
    client.get("/assistants/orders").await.ok()["assistant_id"].as_str().unwrap().to_owned()
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|assistant| assistant["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn every_graph_has_an_assistant() {
    let client = Client::new().await;
    let found = client.post("/assistants/search", json!({ "graph_id": "orders" })).await.ok();
    let assistant = &found[0];
    let expected = json!({
        "assistant_id": assistant["assistant_id"], "graph_id": "orders", "config": {}, "context": {},
        "metadata": { "created_by": "system" }, "name": "orders", "version": 1, "description": null,
        "created_at": assistant["created_at"], "updated_at": assistant["updated_at"],
    });
    assert_eq!(found, json!([expected]));
    let id = assistant["assistant_id"].as_str().unwrap();
    assert_eq!(client.get(&format!("/assistants/{id}")).await.ok(), expected);
    assert_eq!(client.get("/assistants/orders").await.ok(), expected, "by the name of the graph");
    client.get("/assistants/c6a4b1d2").await.error(422);
    let unknown = "00000000-0000-7000-8000-000000000000";
    let detail = client.get(&format!("/assistants/{unknown}")).await.error(404);
    assert_eq!(detail, format!("Assistant with ID {unknown} not found"));
}

#[tokio::test]
async fn an_assistant_is_created_once() {
    let client = Client::new().await;
    let id = "11111111-1111-4111-8111-111111111111";
    let body = json!({ "assistant_id": id, "graph_id": "orders", "name": "mine", "context": { "a": 1 } });
    let created = client.post("/assistants", body.clone()).await.ok();
    assert_eq!(created["assistant_id"], id);
    assert_eq!(
        created["config"],
        json!({ "configurable": { "a": 1 } }),
        "the context is the configurable part"
    );
    assert!(client.post("/assistants", body.clone()).await.error(409).contains(id));
    let again =
        json!({ "assistant_id": id, "graph_id": "orders", "name": "other", "if_exists": "do_nothing" });
    assert_eq!(client.post("/assistants", again).await.ok(), created);
    let untitled = client.post("/assistants", json!({ "graph_id": "outer", "unknown": 1 })).await.ok();
    assert_eq!(untitled["name"], "Untitled");
    let detail = client.post("/assistants", json!({ "graph_id": "none" })).await.error(404);
    assert_eq!(detail, "Graph 'none' not found. Expected one of: `orders`, `outer`");
    let detail =
        client.post("/assistants", json!({ "assistant_id": "x", "metadata": 1, "if_exists": "x" })).await;
    assert_eq!(
        detail.error(422),
        "`graph_id`: required; `assistant_id`: expected a UUID; `if_exists`: expected one of `raise`, `do_nothing`; \
         `metadata`: expected an object, found a number"
    );
}

#[tokio::test]
async fn a_change_makes_a_version_and_an_older_one_can_be_restored() {
    let client = Client::new().await;
    let created =
        client.post("/assistants", json!({ "graph_id": "orders", "metadata": { "a": 1 } })).await.ok();
    let path = format!("/assistants/{}", created["assistant_id"].as_str().unwrap());
    let body = json!({ "name": "second", "metadata": { "b": 2 }, "description": "d" });
    let second = client.patch(&path, body).await.ok();
    assert_eq!((&second["version"], &second["metadata"]), (&json!(2), &json!({ "a": 1, "b": 2 })));
    let versions = client.post(&format!("{path}/versions"), json!({})).await.ok();
    assert_eq!((versions[0]["version"].clone(), versions[1]["version"].clone()), (json!(2), json!(1)));
    assert_eq!(versions[1]["name"], "Untitled");
    let filtered = client.post(&format!("{path}/versions"), json!({ "metadata": { "b": 2 } })).await.ok();
    assert_eq!(filtered.as_array().unwrap().len(), 1);
    let restored = client.post(&format!("{path}/latest"), json!({ "version": 1 })).await.ok();
    assert_eq!((&restored["version"], &restored["metadata"]), (&json!(1), &json!({ "a": 1 })));
    assert_eq!(client.get(&path).await.ok(), restored);
    client.post(&format!("{path}/latest"), json!({ "version": 9 })).await.error(404);
    client.post(&format!("{path}/latest"), json!({ "version": "x" })).await.error(422);
    assert_eq!(client.delete(&path).await.status, 204);
    client.delete(&path).await.error(404);
    client.patch(&path, json!({})).await.error(404);
    client.post(&format!("{path}/versions"), json!({})).await.error(404);
}

#[tokio::test]
async fn a_search_has_filters_pages_and_orders() {
    let client = Client::new().await;
    for (name, color) in [("Alpha", "red"), ("Beta", "red"), ("Gamma", "blue")] {
        let body = json!({ "graph_id": "orders", "name": name, "metadata": { "color": color } });
        client.post("/assistants", body).await.ok();
    }
    let search = async |body| client.post("/assistants/search", body).await;
    let reply = search(json!({ "limit": 2 })).await;
    assert_eq!(names(&reply.ok()), ["Gamma", "Beta"], "newest first");
    assert_eq!(
        (reply.header("x-pagination-total"), reply.header("x-pagination-next")),
        (Some("3"), Some("2"))
    );
    let reply = search(json!({ "limit": 2, "offset": 4 })).await;
    assert_eq!(reply.ok().as_array().unwrap().len(), 1);
    assert_eq!((reply.header("x-pagination-total"), reply.header("x-pagination-next")), (Some("5"), None));
    assert_eq!(names(&search(json!({ "metadata": { "color": "red" } })).await.ok()), ["Beta", "Alpha"]);
    assert_eq!(names(&search(json!({ "name": "amm" })).await.ok()), ["Gamma"]);
    let sorted = search(json!({ "sort_by": "name", "sort_order": "asc", "graph_id": "orders" })).await.ok();
    assert_eq!(names(&sorted), ["Alpha", "Beta", "Gamma", "orders"]);
    let selected = search(json!({ "select": ["name", "version"], "limit": 1 })).await.ok();
    assert_eq!(selected, json!([{ "name": "Gamma", "version": 1 }]));
    assert_eq!(client.post("/assistants/count", json!({ "metadata": { "color": "red" } })).await.ok(), 2);
    search(json!({ "limit": 0 })).await.error(422);
    search(json!({ "sort_by": "color" })).await.error(422);
}

#[tokio::test]
async fn a_graph_is_drawn_with_its_subgraphs() {
    let client = Client::new().await;
    let id = default_id(&client).await;
    let graph = client.get(&format!("/assistants/{id}/graph")).await.ok();
    assert_eq!(graph, client.get("/assistants/orders/graph?xray=true").await.ok());
    assert_eq!(
        graph,
        json!({
            "nodes": [
                { "id": "__start__", "type": "runnable", "data": { "name": "__start__" } },
                { "id": "note", "type": "runnable", "data": { "name": "note" } },
                { "id": "check", "type": "runnable", "data": { "name": "check" } },
                { "id": "__end__" },
            ],
            "edges": [
                { "source": "__start__", "target": "note" },
                { "source": "note", "target": "check" },
                { "source": "check", "target": "note", "conditional": true, "data": "Again" },
                { "source": "check", "target": "__end__", "conditional": true, "data": "Enough" },
            ],
        })
    );
    let ids = async |xray| {
        let graph = client.get(&format!("/assistants/outer/graph?xray={xray}")).await.ok();
        let ids =
            graph["nodes"].as_array().unwrap().iter().map(|node| node["id"].as_str().unwrap().to_owned());
        ids.collect::<Vec<_>>()
    };
    assert_eq!(ids("false").await, ["__start__", "inner", "__end__"]);
    let inner = ["__start__", "inner:note", "inner:check", "inner:__end__", "__end__"];
    assert_eq!(ids("true").await, inner);
    assert_eq!(ids("1").await, inner);
    client.get("/assistants/outer/graph?xray=deep").await.error(422);
}

#[tokio::test]
async fn schemas_come_from_the_state() {
    let client = Client::new().await;
    let schemas = client.get("/assistants/orders/schemas").await.ok();
    assert_eq!(schemas["graph_id"], "orders");
    assert_eq!(schemas["input_schema"]["required"], json!(["item"]));
    assert!(schemas["state_schema"]["properties"]["log"].is_object());
    assert!(!schemas.to_string().contains("card"), "excluded fields do not appear");
    let subgraphs = client.get("/assistants/outer/subgraphs").await.ok();
    assert_eq!(subgraphs.as_object().unwrap().keys().collect::<Vec<_>>(), ["inner"]);
    assert_eq!(client.get("/assistants/outer/subgraphs/inner?recurse=true").await.ok(), subgraphs);
    assert_eq!(client.get("/assistants/outer/subgraphs/other").await.ok(), json!({}));
    assert_eq!(client.get("/assistants/orders/subgraphs").await.ok(), json!({}));
}
