use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::ALLOW;
use axum::http::request::Parts;
use axum::http::{Extensions, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::open_body::counted;
use super::route_table::{Access, Matched, Route, find};
use crate::api_error::{ApiError, ApiResult};
use crate::app::{App, CallerApp};
use crate::auth::{AuthRequest, Identity};
use crate::limits::{Counted, OpenStream};
use crate::log;
use crate::protocol::ThreadId;

/// Lets a request pass to its route if its caller may use it. Nothing that is not in the table of routes is served.
pub(super) async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let (path, method) = (request.uri().path().to_owned(), request.method().clone());
    let begin = Instant::now();
    let (route, thread) = match find(method.as_str(), &path) {
        Matched::Route(route, thread) => (route, thread),
        Matched::Method(methods) => return unserved(&method, method_not_allowed(methods), begin).await,
        Matched::Nothing => {
            return unserved(&method, ApiError::not_found("Not Found").into_response(), begin).await;
        }
    };
    log::request(method.as_str(), route.path, thread, async {
        let response = match admit(&app, route, thread, request).await {
            Ok((request, None)) => next.run(request).await,
            Ok((mut request, Some(open))) => {
                let open = Arc::new(open);
                // A WebSocket outlives its response.
                request.extensions_mut().insert(Arc::clone(&open));
                counted(next.run(request).await, open)
            }
            Err(error) => error.into_response(),
        };
        let (status, time) = (response.status().as_u16(), begin.elapsed());
        app.metrics.request((route.method, route.path), status, time);
        log::request_finished(method.as_str(), route.path, status, time);
        response
    })
    .await
}

/// Responds to a request for which there is no route.
async fn unserved(method: &Method, response: Response, begin: Instant) -> Response {
    log::request(method.as_str(), "", None, async {
        log::request_finished(method.as_str(), "", response.status().as_u16(), begin.elapsed());
        response
    })
    .await
}

fn method_not_allowed(methods: &[&Route]) -> Response {
    let allowed: Vec<&str> = methods.iter().map(|route| route.method).collect();
    let error = ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed");
    ([(ALLOW, allowed.join(","))], error).into_response()
}

/// Returns the request with the app as its caller sees it, and its place among the open streams.
///
/// # Errors
/// The caller may not use the route, or sends too many requests.
async fn admit(
    app: &Arc<App>,
    route: &Route,
    thread: Option<&str>,
    request: Request,
) -> ApiResult<(Request, Option<OpenStream>)> {
    if route.access == Access::Public {
        return Ok((request, None));
    }
    let (mut parts, body) = request.into_parts();
    let address = peer(&parts.extensions);
    let caller = match recognize(app, route, &parts, address).await {
        Ok(caller) => caller,
        Err(error) => {
            count(app, &Counted::Peer(address))?;
            return Err(error);
        }
    };
    let counted =
        caller.as_ref().map_or(Counted::Peer(address), |caller| Counted::Identity(caller.shared_id()));
    count(app, &counted)?;
    let open = if route.streams() {
        let open = app.streams.open(&counted, app.options.stream_limit);
        Some(open.ok_or_else(|| ApiError::too_many("too many streams are open", RETRY_STREAM))?)
    } else {
        None
    };
    if let Some(caller) = caller {
        let app = app.seen_by(caller);
        if let Some(id) = thread {
            check_thread(&app, id).await?;
        }
        parts.extensions.insert(CallerApp(app));
    }
    Ok((Request::from_parts(parts, body), open))
}

/// Returns the caller of a request. `None` if callers are not told apart.
///
/// # Errors
/// The caller is not recognized, or may not use the route.
async fn recognize(
    app: &App,
    route: &Route,
    parts: &Parts,
    address: Option<IpAddr>,
) -> ApiResult<Option<Identity>> {
    if let Some(key) = &app.options.api_key {
        key.check(&parts.headers)?;
    }
    let Some(hook) = &app.options.authenticate else { return Ok(None) };
    let identity = hook.authenticate(AuthRequest::new(parts, address)).await?;
    if route.access == Access::Operator && !identity.is_operator() {
        return Err(ApiError::new(StatusCode::FORBIDDEN, "only an operator may use this path"));
    }
    Ok(Some(identity))
}

/// Counts a request.
///
/// # Errors
/// The caller sends too many requests.
pub(super) fn count(app: &App, caller: &Counted) -> ApiResult<()> {
    let Some(limit) = &app.options.rate_limit else { return Ok(()) };
    limit.count(caller).map_err(|wait| ApiError::too_many("too many requests", wait))
}

/// The time after which a client may try to open a stream again.
const RETRY_STREAM: Duration = Duration::from_secs(5);

/// Returns the address of the other end of the connection, if it is known.
fn peer(extensions: &Extensions) -> Option<IpAddr> {
    extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(address)| address.ip())
}

/// Refuses the thread of a path that the caller does not see. A thread that does not exist may be created.
async fn check_thread(app: &App, id: &str) -> ApiResult<()> {
    // An id needs no escapes. With them, this would read another id than the handler does.
    if id.contains('%') {
        return Err(ApiError::unprocessable("Invalid thread ID: must be a UUID"));
    }
    match ThreadId::parse(id) {
        Some(id) if app.records.is_hidden(id).await? => Err(crate::runs::no_thread(id)),
        _ => Ok(()),
    }
}
