use serde_json::{Value, json};

use crate::support::Client;

fn cron(schedule: &str) -> Value {
    json!({ "assistant_id": "orders", "schedule": schedule, "input": { "item": "tea" } })
}

fn path(cron: &Value) -> String {
    format!("/runs/crons/{}", cron["cron_id"].as_str().unwrap())
}

#[tokio::test]
async fn a_cron_is_created_changed_and_deleted() {
    let client = Client::new().await;
    let mut body = cron("0 9 * * MON-FRI");
    body["timezone"] = json!("Europe/Berlin");
    body["metadata"] = json!({ "of": "ann" });
    body["end_time"] = json!("2199-01-01T00:00:00");
    let made = client.post("/runs/crons", body).await.ok();
    assert_eq!((&made["schedule"], &made["timezone"]), (&json!("0 9 * * MON-FRI"), &json!("Europe/Berlin")));
    assert_eq!(
        (&made["enabled"], &made["thread_id"], &made["user_id"]),
        (&json!(true), &Value::Null, &Value::Null)
    );
    assert_eq!(made["payload"]["input"], json!({ "item": "tea" }));
    assert_eq!(
        (&made["metadata"]["of"], &made["end_time"]),
        (&json!("ann"), &json!("2199-01-01T00:00:00.000000+00:00"))
    );
    let next = made["next_run_date"].as_str().unwrap();
    assert!(next.ends_with("T08:00:00.000000+00:00") || next.ends_with("T07:00:00.000000+00:00"), "{next}");
    assert_eq!(client.get(&path(&made)).await.ok(), made);

    let patch = json!({ "schedule": "30 12 1 * *", "timezone": "UTC", "input": { "item": "milk" }, "end_time": null });
    let changed = client.patch(&path(&made), patch).await.ok();
    assert!(changed["next_run_date"].as_str().unwrap().contains("-01T12:30:00"), "{changed}");
    assert_eq!((&changed["payload"]["input"]["item"], &changed["end_time"]), (&json!("milk"), &Value::Null));
    let stopped =
        client.patch(&path(&made), json!({ "enabled": false, "metadata": { "more": 1 } })).await.ok();
    assert_eq!(
        (&stopped["enabled"], &stopped["metadata"]),
        (&json!(false), &json!({ "of": "ann", "more": 1 }))
    );
    assert_eq!(client.delete(&path(&made)).await.status, 204);
    client.get(&path(&made)).await.error(404);
    client.patch(&path(&made), json!({})).await.error(404);
    client.delete(&path(&made)).await.error(404);
    client.get("/runs/crons/x").await.error(422);
}

#[tokio::test]
async fn crons_are_listed_and_counted() {
    let client = Client::new().await;
    let thread = client.order("tea", json!({})).await;
    let mut ids = Vec::new();
    for (index, schedule) in ["0 0 1 3 *", "0 0 1 2 *", "0 0 1 1 *"].into_iter().enumerate() {
        let mut body = cron(schedule);
        body["metadata"] = json!({ "index": index });
        body["enabled"] = json!(index != 1);
        let path =
            if index == 0 { format!("/threads/{thread}/runs/crons") } else { "/runs/crons".to_owned() };
        ids.push(client.post(&path, body).await.ok()["cron_id"].clone());
    }
    let search = async |body: Value| {
        let found = client.post("/runs/crons/search", body).await.ok();
        found.as_array().unwrap().iter().map(|cron| cron["cron_id"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(search(json!({})).await, [ids[2].clone(), ids[1].clone(), ids[0].clone()]);
    assert_eq!(
        search(json!({ "sort_by": "created_at", "sort_order": "asc", "limit": 1, "offset": 1 })).await,
        [ids[1].clone()]
    );
    assert_eq!(search(json!({ "thread_id": thread })).await, [ids[0].clone()]);
    assert_eq!(search(json!({ "enabled": false })).await, [ids[1].clone()]);
    assert_eq!(search(json!({ "metadata": { "index": 2 } })).await, [ids[2].clone()]);
    let page = client.post("/runs/crons/search", json!({ "limit": 2, "select": ["schedule"] })).await;
    assert_eq!(page.ok()[0], json!({ "schedule": "0 0 1 1 *" }));
    assert_eq!((page.header("x-pagination-total"), page.header("x-pagination-next")), (Some("3"), Some("2")));
    assert_eq!(client.post("/runs/crons/count", json!({})).await.ok(), 3);
    assert_eq!(client.post("/runs/crons/count", json!({ "thread_id": thread })).await.ok(), 1);
}

#[tokio::test]
async fn a_cron_whose_runs_cannot_start_is_refused() {
    let client = Client::new().await;
    for (schedule, problem) in [
        ("every day", "`schedule`"),
        ("61 * * * *", "`schedule`"),
        ("0 0 30 2 *", "never due"),
        ("", "`schedule`"),
    ] {
        let detail = client.post("/runs/crons", cron(schedule)).await.error(422);
        assert!(detail.contains(problem), "{detail}");
    }
    let with = |key: &str, value: Value| {
        let mut body = cron("0 0 * * *");
        body[key] = value;
        body
    };
    for (key, value) in [
        ("timezone", json!("Mars/Base")),
        ("end_time", json!("tomorrow")),
        ("enabled", json!("yes")),
        ("on_run_completed", json!("forget")),
        ("schedule", Value::Null),
        ("input", json!({ "item": 7 })),
        ("assistant_id", json!("nobody")),
        ("after_seconds", json!(1)),
    ] {
        let detail = client.post("/runs/crons", with(key, value)).await.error(422);
        assert!(detail.contains(key) || detail.contains("$.item"), "{key}: {detail}");
    }
    client
        .post("/threads/01890a5d-ac96-774b-bcce-b302099a8057/runs/crons", cron("0 0 * * *"))
        .await
        .error(404);
    let made = client.post("/runs/crons", cron("0 0 * * *")).await.ok();
    for patch in [json!({ "schedule": "x" }), json!({ "timezone": "x" }), json!({ "input": {} })] {
        client.patch(&path(&made), patch).await.error(422);
    }
    assert_eq!(client.get(&path(&made)).await.ok(), made);
}
