//! All routes, with the decision who may use each. A request for a route that is not in the table is refused by
//! [`guard`](super::guard), so a new route is entered here first.

use std::sync::LazyLock;

use matchit::Router;

/// A route.
#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(crate) access: Access,
    /// One line for the documentation.
    pub(crate) about: &'static str,
}

/// The callers that may use a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Everyone, also without a key.
    Public,
    /// Every caller. The handler uses records, which show what belongs to the caller, or nothing that belongs to one.
    Caller,
    /// Callers who see the thread of the path. For others it does not exist.
    Thread,
    /// Callers who see everything.
    Operator,
}

impl Route {
    /// Returns `true` if a response may be sent while a run goes on.
    pub(crate) fn streams(&self) -> bool {
        let last = self.path.rsplit('/').next();
        matches!(last, Some("stream" | "events" | "wait" | "join" | "mcp")) || self.path == "/a2a/{assistant}"
    }
}

const fn route(method: &'static str, path: &'static str, access: Access, about: &'static str) -> Route {
    Route { method, path, access, about }
}

/// Routes whose path has a thread, as `/threads/{thread}..`.
const fn thread(method: &'static str, path: &'static str, about: &'static str) -> Route {
    route(method, path, Access::Thread, about)
}

const fn caller(method: &'static str, path: &'static str, about: &'static str) -> Route {
    route(method, path, Access::Caller, about)
}

/// All routes.
pub(crate) const ROUTES: &[Route] = &[
    route("GET", "/ok", Access::Public, "Says that the server is alive"),
    caller("GET", "/", "Says that the server is alive"),
    caller("GET", "/info", "Returns the version of the server and what it supports"),
    route("GET", "/openapi.json", Access::Public, "Describes the routes, for programs"),
    route("GET", "/docs", Access::Public, "Describes the routes, as a page"),
    route("GET", "/metrics", Access::Operator, "Returns counters, as Prometheus reads them"),
    caller("POST", "/assistants", "Creates an assistant"),
    caller("POST", "/assistants/search", "Lists assistants"),
    caller("POST", "/assistants/count", "Counts assistants"),
    caller("GET", "/assistants/{assistant}", "Returns an assistant"),
    caller("PATCH", "/assistants/{assistant}", "Changes an assistant, which makes a new version of it"),
    caller("DELETE", "/assistants/{assistant}", "Deletes an assistant"),
    caller("POST", "/assistants/{assistant}/versions", "Lists the versions of an assistant"),
    caller("POST", "/assistants/{assistant}/latest", "Makes an assistant have one of its versions"),
    caller("GET", "/assistants/{assistant}/graph", "Returns the nodes and edges of a graph"),
    caller("GET", "/assistants/{assistant}/schemas", "Returns the JSON Schemas of a graph"),
    caller("GET", "/assistants/{assistant}/subgraphs", "Returns the subgraphs of a graph"),
    caller("GET", "/assistants/{assistant}/subgraphs/{namespace}", "Returns one subgraph of a graph"),
    caller("POST", "/threads", "Creates a thread"),
    caller("POST", "/threads/search", "Lists threads"),
    caller("POST", "/threads/count", "Counts threads"),
    caller("POST", "/threads/prune", "Deletes threads or their history"),
    thread("GET", "/threads/{thread}", "Returns a thread with its state"),
    thread("PATCH", "/threads/{thread}", "Changes the metadata or the time to live of a thread"),
    thread("DELETE", "/threads/{thread}", "Deletes a thread with its runs"),
    thread("POST", "/threads/{thread}/copy", "Copies a thread"),
    thread("GET", "/threads/{thread}/state", "Returns the latest state of a thread"),
    thread("POST", "/threads/{thread}/state", "Updates the state of a thread"),
    thread("PATCH", "/threads/{thread}/state", "Merges metadata into those of a thread"),
    thread("POST", "/threads/{thread}/state/checkpoint", "Returns the state at a checkpoint"),
    thread("GET", "/threads/{thread}/state/{checkpoint}", "Returns the state at a checkpoint"),
    thread("GET", "/threads/{thread}/history", "Lists the states of a thread"),
    thread("POST", "/threads/{thread}/history", "Lists the states of a thread"),
    thread("GET", "/threads/{thread}/stream", "Streams the events of all runs of a thread"),
    thread("POST", "/threads/{thread}/commands", "Carries out a command of the thread protocol"),
    thread("GET", "/threads/{thread}/stream/events", "Opens a WebSocket of the thread protocol"),
    thread("POST", "/threads/{thread}/stream/events", "Streams the events of the thread protocol"),
    thread("GET", "/threads/{thread}/runs", "Lists the runs of a thread"),
    thread("POST", "/threads/{thread}/runs", "Starts a run in the background"),
    thread("POST", "/threads/{thread}/runs/stream", "Starts a run and streams its events"),
    thread("POST", "/threads/{thread}/runs/wait", "Starts a run and waits for its result"),
    thread("GET", "/threads/{thread}/runs/{run}", "Returns a run"),
    thread("DELETE", "/threads/{thread}/runs/{run}", "Deletes a run that has ended"),
    thread("GET", "/threads/{thread}/runs/{run}/join", "Waits for the result of a run"),
    thread("GET", "/threads/{thread}/runs/{run}/stream", "Streams the events of a run"),
    thread("POST", "/threads/{thread}/runs/{run}/cancel", "Cancels a run"),
    caller("POST", "/runs", "Starts a run on a thread of its own"),
    caller("POST", "/runs/stream", "Starts a run on a thread of its own and streams its events"),
    caller("POST", "/runs/wait", "Starts a run on a thread of its own and waits for its result"),
    caller("POST", "/runs/batch", "Starts several runs"),
    caller("POST", "/runs/cancel", "Cancels several runs"),
    caller("GET", "/runs/{run}/join", "Waits for the result of a run"),
    caller("GET", "/runs/{run}/stream", "Streams the events of a run"),
    caller("POST", "/runs/{run}/cancel", "Cancels a run"),
    caller("POST", "/runs/crons", "Creates a cron, whose runs have threads of their own"),
    caller("POST", "/runs/crons/search", "Lists crons"),
    caller("POST", "/runs/crons/count", "Counts crons"),
    caller("GET", "/runs/crons/{cron}", "Returns a cron"),
    caller("PATCH", "/runs/crons/{cron}", "Changes a cron"),
    caller("DELETE", "/runs/crons/{cron}", "Deletes a cron"),
    thread("POST", "/threads/{thread}/runs/crons", "Creates a cron whose runs are on a thread"),
    caller("GET", "/store/items", "Returns an item of the long-term store"),
    caller("PUT", "/store/items", "Stores an item"),
    caller("DELETE", "/store/items", "Deletes an item"),
    caller("POST", "/store/items/search", "Searches items"),
    caller("POST", "/store/namespaces", "Lists namespaces"),
    caller("POST", "/mcp", "Carries out a call of the Model Context Protocol"),
    caller("DELETE", "/mcp", "Ends a session of the Model Context Protocol; there are none"),
    caller("POST", "/mcp/", "Redirects to `/mcp`"),
    caller("GET", "/.well-known/agent-card.json", "Returns the agent card of an assistant"),
    caller("GET", "/a2a/{assistant}/.well-known/agent-card.json", "Returns the agent card of an assistant"),
    caller("POST", "/a2a/{assistant}", "Carries out a call of the Agent2Agent protocol"),
];

/// The routes of one path.
type Methods = Vec<&'static Route>;

/// The routes by their paths.
static BY_PATH: LazyLock<Router<Methods>> = LazyLock::new(|| {
    let mut paths: Vec<(&str, Methods)> = Vec::new();
    for route in ROUTES {
        match paths.iter_mut().find(|(path, _)| *path == route.path) {
            Some((_, methods)) => methods.push(route),
            None => paths.push((route.path, vec![route])),
        }
    }
    let mut router = Router::new();
    for (path, methods) in paths {
        // A test inserts them all. A path that cannot be inserted is not found, so its routes are refused.
        drop(router.insert(path, methods));
    }
    router
});

/// The route of a request.
#[derive(Debug)]
pub(crate) enum Matched<'p> {
    /// The route, and the thread of the path.
    Route(&'static Route, Option<&'p str>),
    /// The path is known, but not with this method.
    Method(&'static [&'static Route]),
    /// The path is not known.
    Nothing,
}

/// Finds the route of a request. `HEAD` is served by the routes of `GET`.
pub(crate) fn find<'p>(method: &str, path: &'p str) -> Matched<'p> {
    let Ok(found) = BY_PATH.at(path) else { return Matched::Nothing };
    let method = if method == "HEAD" { "GET" } else { method };
    match found.value.iter().find(|route| route.method == method) {
        Some(route) => Matched::Route(route, found.params.get("thread")),
        None => Matched::Method(found.value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_that_wait_for_runs_are_streams() {
        let streams = ROUTES.iter().filter(|route| route.streams()).count();
        assert_eq!(streams, 14);
    }

    #[test]
    fn every_route_is_found() {
        for route in ROUTES {
            let path = route.path.replace('{', "a-").replace('}', "");
            let Matched::Route(found, thread) = find(route.method, &path) else { panic!("{route:?}") };
            assert_eq!((found.method, found.path), (route.method, route.path));
            assert_eq!(thread.is_some(), route.access == Access::Thread, "{route:?}");
        }
        assert!(matches!(find("HEAD", "/ok"), Matched::Route(..)));
        assert!(matches!(find("PUT", "/threads"), Matched::Method([_])));
        assert!(matches!(find("GET", "/nowhere"), Matched::Nothing));
    }
}
