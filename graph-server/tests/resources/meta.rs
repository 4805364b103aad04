use axum::body::Body;
use axum::http::Request;
use serde_json::json;

use crate::support::Client;

#[tokio::test]
async fn a_client_can_check_the_server() {
    let client = Client::new().await;
    assert_eq!(client.get("/ok").await.ok(), json!({ "ok": true }));
    assert_eq!(client.get("/").await.ok(), json!({ "ok": true }));
    let info = client.get("/info").await.ok();
    assert_eq!((&info["flags"]["assistants"], &info["flags"]["crons"]), (&json!(true), &json!(true)));
}

#[tokio::test]
async fn unknown_paths_and_methods_are_json_errors() {
    let client = Client::new().await;
    assert_eq!(client.get("/nowhere").await.error(404), "Not Found");
    let reply = client.put("/threads", json!({})).await;
    assert_eq!(reply.error(405), "Method Not Allowed");
    assert_eq!(reply.header("allow"), Some("POST"));
}

#[tokio::test]
async fn pages_of_other_origins_may_use_the_server() {
    let client = Client::new().await;
    let preflight = Request::options("/threads/x")
        .header("origin", "https://chat.example")
        .header("access-control-request-method", "PATCH")
        .header("access-control-request-headers", "x-api-key, content-type")
        .header("access-control-request-private-network", "true");
    let reply = client.send(preflight.body(Body::empty()).unwrap()).await;
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("access-control-allow-origin"), Some("*"));
    assert_eq!(reply.header("access-control-allow-headers"), Some("x-api-key, content-type"));
    assert_eq!(reply.header("access-control-allow-private-network"), Some("true"));
    for method in ["PATCH", "PUT", "DELETE"] {
        assert!(reply.header("access-control-allow-methods").unwrap().contains(method), "{method}");
    }
    for path in ["/ok", "/threads/none"] {
        let request =
            Request::get(path).header("origin", "https://chat.example").body(Body::empty()).unwrap();
        let reply = client.send(request).await;
        assert_eq!(reply.header("access-control-allow-origin"), Some("*"));
        let exposed = reply.header("access-control-expose-headers").unwrap();
        for header in ["x-pagination-total", "x-pagination-next", "content-location", "location"] {
            assert!(exposed.split(", ").any(|name| name == header), "{header}");
        }
    }
    assert_eq!(client.get("/ok").await.header("access-control-allow-origin"), None);
}

#[tokio::test]
async fn a_key_is_required_for_everything_but_the_health_check() {
    let client = Client::with(|server| server.api_key("secret")).await;
    client.get("/ok").await.ok();
    assert!(client.get("/info").await.error(401).contains("`x-api-key`"));
    let with_key = |key: &str| {
        let request =
            Request::post("/threads/search").header("x-api-key", key).header("origin", "https://a.example");
        request.body(Body::from("{}")).unwrap()
    };
    let refused = client.send(with_key("wrong")).await;
    refused.error(401);
    assert_eq!(refused.header("access-control-allow-origin"), Some("*"), "a page can read the error");
    client.send(with_key("")).await.error(401);
    client.send(with_key("secret")).await.ok();
}

#[tokio::test]
async fn bodies_have_a_limit_and_must_be_json() {
    let client = Client::with(|server| server.body_limit(100)).await;
    let large = json!({ "metadata": { "text": "x".repeat(100) } });
    assert!(client.post("/threads", large).await.error(413).contains("100 bytes"));
    for body in ["{", "", "nul", "\"\\ud800\"", "[1]", "null"] {
        let request = Request::post("/assistants").body(Body::from(body)).unwrap();
        client.send(request).await.error(422);
    }
    let deep = "[".repeat(50_000);
    let client = Client::new().await;
    client.send(Request::post("/threads").body(Body::from(deep)).unwrap()).await.error(422);
    client.send(Request::post("/threads").body(Body::from(vec![0xff, 0xfe])).unwrap()).await.error(422);
}

#[tokio::test]
async fn the_page_and_the_document_describe_every_route() {
    let client = Client::with(|server| server.api_key("secret")).await;
    let document = client.get("/openapi.json").await.ok();
    let page = client.get("/docs").await;
    assert_eq!((page.status.as_u16(), page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    assert!(!page.body.contains("//"), "the page loads nothing from elsewhere");
    let paths = document["paths"].as_object().unwrap();
    assert!(paths.len() > 40, "{}", paths.len());
    for (path, methods) in paths {
        assert!(page.body.contains(&format!("<code>{path}</code>")), "{path}");
        for operation in methods.as_object().unwrap().values() {
            assert!(operation["summary"].as_str().is_some_and(|text| !text.is_empty()), "{path}");
        }
    }
}

#[tokio::test]
async fn every_described_route_is_served() {
    let client = Client::new().await;
    let document = client.get("/openapi.json").await.ok();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            let thread = "01890a5d-ac96-774b-bcce-b302099a8057";
            let filled = path.replace("{thread}", thread).replace("{assistant}", "orders");
            let filled = filled.replace('{', "x-").replace('}', "");
            let request = Request::builder().method(method.to_uppercase().as_str()).uri(&filled);
            let reply = client.send(request.body(Body::from("{}")).unwrap()).await;
            assert_ne!(reply.status, 405, "{method} {path}");
            assert!(reply.status != 404 || reply.json()["detail"] != "Not Found", "{method} {path}");
        }
    }
}

#[tokio::test]
async fn metrics_count_runs_and_requests() {
    let client = Client::new().await;
    let run = json!({ "assistant_id": "orders", "input": { "item": "tea" } });
    for _ in 0..3 {
        client.post("/runs/wait", run.clone()).await.ok();
    }
    client.post("/runs/wait", json!({})).await.error(422);
    let metrics = client.get("/metrics").await;
    assert_eq!(metrics.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    for line in [
        "superstep_runs_total{status=\"success\"} 3",
        "superstep_runs_open{status=\"running\"} 0",
        "superstep_streams_open 0",
        "superstep_requests_total{method=\"POST\",path=\"/runs/wait\",status=\"200\"} 3",
        "superstep_requests_total{method=\"POST\",path=\"/runs/wait\",status=\"422\"} 1",
        "superstep_request_seconds_count{method=\"POST\",path=\"/runs/wait\"} 4",
        "# TYPE superstep_request_seconds histogram",
    ] {
        assert!(metrics.body.lines().any(|found| found == line), "{line}\n{}", metrics.body);
    }
}
