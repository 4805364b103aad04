//! `/docs`: the routes as a page. It loads nothing from elsewhere.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::Router;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;

use super::route_table::{Access, ROUTES};
use crate::app::App;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/docs", get(show))
}

const HEAD: &str = r#"<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>superstep agent server</title>
<style>
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; width: 100% }
td, th { text-align: left; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid #8884; vertical-align: top }
</style>
<h1>superstep agent server</h1>
<p>The routes. The same as a document of OpenAPI: <a href="openapi.json">openapi.json</a>.</p>
<table><tr><th>Method<th>Path<th><th>Callers</tr>
"#;

async fn show() -> Response {
    let mut page = HEAD.to_owned();
    for route in ROUTES {
        let callers = match route.access {
            Access::Public => "all, also without a key",
            Access::Caller => "all",
            Access::Thread => "those who see the thread",
            Access::Operator => "operators",
        };
        let (method, path, about) = (route.method, route.path, route.about);
        // The table has no characters that HTML interprets. Writing to a string does not fail.
        let _ = writeln!(page, "<tr><td>{method}<td><code>{path}</code><td>{about}<td>{callers}</tr>");
    }
    page.push_str("</table></html>\n");
    let headers = [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CONTENT_SECURITY_POLICY, "default-src 'none'; style-src 'unsafe-inline'"),
    ];
    (headers, page).into_response()
}
