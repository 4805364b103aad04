use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use superstep::checkpoint::{Checkpointer, MemoryCheckpointer};
use superstep::store::{IntoStore, LongTermStore, MemoryStore};
use superstep::{Graph, GraphState};
use tokio::net::{TcpListener, ToSocketAddrs};

use crate::app::App;
use crate::auth::{ApiKey, Authenticate, erased};
use crate::graphs::{Bound, ContextError, Graphs, IntoServed, RunContext, Served, Stores};
use crate::limits::{RateLimit, StreamLimit};
use crate::options::Options;
use crate::records::AssistantRecord;
use crate::runs::recover;
use crate::{ServerError, crons, expiry, http, log};

type Bind = Box<dyn FnOnce(&Stores) -> Bound + Send>;

/// A server of graphs, before it is started.
///
/// Without stores, everything is kept in memory.
///
/// ```
/// # use superstep::{END, GraphState, START, StateGraph};
/// # #[derive(GraphState, Clone)]
/// # struct Echo { #[state(input)] said: String }
/// # async fn answer(_: &Echo) {}
/// use superstep_server::Server;
///
/// # async fn start() -> Result<axum::Router, Box<dyn std::error::Error>> {
/// let graph = StateGraph::<Echo>::new().edge(START, answer).edge(answer, END).compile()?;
/// let routes = Server::new().graph("echo", graph).start().await?.router();
/// # Ok(routes)
/// # }
/// ```
#[must_use = "a server does nothing until it is started"]
pub struct Server {
    graphs: Vec<(String, Bind)>,
    checkpointer: Arc<dyn Checkpointer>,
    store: LongTermStore,
    options: Options,
}

impl Default for Server {
    fn default() -> Self {
        Self::new()
    }
}

impl Server {
    /// Creates a server without graphs.
    pub fn new() -> Self {
        Self {
            graphs: Vec::new(),
            checkpointer: Arc::new(MemoryCheckpointer::new()),
            store: LongTermStore::new(MemoryStore::new()),
            options: Options::default(),
        }
    }

    /// Adds a graph under an id, which clients use as the name of its assistant.
    pub fn graph(mut self, id: impl Into<String>, graph: impl IntoServed) -> Self {
        self.graphs.push((id.into(), Box::new(move |stores| graph.bind(stores))));
        self
    }

    /// Adds a graph whose runs need a context, and the function that makes it from the request.
    ///
    /// ```
    /// # use superstep::{ContextWith, END, GraphState, START, StateGraph};
    /// # use superstep_server::Server;
    /// # #[derive(GraphState, Clone)]
    /// # struct Echo { #[state(input)] said: String, answer: String }
    /// #[derive(serde::Deserialize)]
    /// struct Tenant {
    ///     name: String,
    /// }
    ///
    /// async fn answer(_: &Echo, cx: &ContextWith<Tenant>) -> EchoUpdate {
    ///     Echo::update().answer(format!("hello, {}", cx.context().name))
    /// }
    ///
    /// # fn main() -> superstep::Result<()> {
    /// let graph = StateGraph::<Echo>::with_context::<Tenant>().edge(START, answer).edge(answer, END).compile()?;
    /// let server = Server::new().graph_with_context("echo", graph, |request| request.read::<Tenant>());
    /// # drop(server);
    /// # Ok(())
    /// # }
    /// ```
    pub fn graph_with_context<S: GraphState, D: Send + Sync + 'static, C: Into<Arc<D>>>(
        self,
        id: impl Into<String>,
        graph: Graph<S, D>,
        make: impl Fn(&RunContext) -> Result<C, ContextError> + Send + Sync + 'static,
    ) -> Self {
        self.graph(id, Served::with_context(graph, make))
    }

    /// Sets the store of the threads. The default keeps them in memory.
    pub fn checkpointer(mut self, checkpointer: impl Checkpointer) -> Self {
        self.checkpointer = Arc::new(checkpointer);
        self
    }

    /// Sets the long-term store, which the graphs share. The server keeps its records of threads, runs and assistants in
    /// it as well. The default keeps them in memory.
    pub fn store(mut self, store: impl IntoStore) -> Self {
        self.store = store.into_store();
        self
    }

    /// Sets the key that every request must have in the header `x-api-key`, except for `GET /ok`, `/docs` and
    /// `/openapi.json`. Without a key,
    /// everyone who can reach the address can use the server.
    ///
    /// Only a digest of the key is kept in memory.
    pub fn api_key(mut self, key: impl AsRef<str>) -> Self {
        self.options.api_key = Some(ApiKey::new(key.as_ref()));
        self
    }

    /// Sets a function that recognizes the caller of each request, and with it who may see which thread: an [`Identity`](crate::Identity)
    /// finds what belongs to it, and nothing else. Without such a function, all callers see everything.
    ///
    /// Requests of `GET /ok`, `/docs` and `/openapi.json` are not shown to the function. A [key](Self::api_key) is required in addition, if there is one.
    /// Threads that were made without a caller, or before the function was there, are only seen by an identity that
    /// [`sees_all`](crate::Identity::sees_all).
    ///
    /// ```
    /// use superstep_server::{AuthError, AuthRequest, Identity, Server};
    ///
    /// async fn recognize(request: AuthRequest) -> Result<Identity, AuthError> {
    ///     let token = request.bearer_token().ok_or_else(|| AuthError::unauthenticated("the request has no token"))?;
    ///     // Look the token up here, or check its signature.
    ///     match token {
    ///         "token-of-ann" => Ok(Identity::new("ann")),
    ///         "token-of-the-operator" => Ok(Identity::new("operator").sees_all()),
    ///         _ => Err(AuthError::unauthenticated("the token is not known")),
    ///     }
    /// }
    ///
    /// let server = Server::new().authenticate(recognize);
    /// # drop(server);
    /// ```
    pub fn authenticate(mut self, recognize: impl Authenticate) -> Self {
        self.options.authenticate = Some(erased(recognize));
        self
    }

    /// Sets the maximum size of the body of a request in bytes. The default is 16 MiB. Larger requests are refused with 413.
    pub fn body_limit(mut self, bytes: usize) -> Self {
        self.options.body_limit = bytes;
        self
    }

    /// Sets the number of requests that each caller may send per second, on average. Up to `burst` requests may come at once. More are
    /// refused with 429 and `retry-after`. The default is no limit. `GET /ok` is not counted.
    ///
    /// A caller is an [`Identity`](crate::Identity), or the address of the other end of the connection if the server
    /// [recognizes](Self::authenticate) no callers. Requests that are not recognized count for their address.
    pub fn rate_limit(mut self, per_second: u32, burst: u32) -> Self {
        self.options.rate_limit = Some(RateLimit::new(per_second, burst));
        self
    }

    /// Sets the maximum number of responses that wait for a run or stream its events: of all callers together, and of each
    /// caller. More are refused with 429 before a run starts. The default is no limit.
    pub fn stream_limit(mut self, total: usize, per_caller: usize) -> Self {
        self.options.stream_limit = StreamLimit { total, per_caller };
        self
    }

    /// Lets webhooks have addresses of this machine and of private networks. By default, a run with such a webhook is refused, and
    /// nothing is sent to a name that resolves to such an address.
    #[cfg(feature = "webhooks")]
    pub fn private_webhooks(mut self) -> Self {
        self.options.private_webhooks = true;
        self
    }

    /// Starts the server without a listener: its routes can be nested in an application.
    ///
    /// # Errors
    /// [`DuplicateGraph`](ServerError::DuplicateGraph) if two graphs have one id.
    ///
    /// # Cancel safety
    /// A dropped call has started nothing.
    pub async fn start(self) -> Result<Started, ServerError> {
        let Self { graphs, checkpointer, store, options } = self;
        let stores = Stores { checkpointer: Arc::clone(&checkpointer), store: store.clone() };
        let mut bound = BTreeMap::new();
        for (id, bind) in graphs {
            if bound.insert(Arc::from(id.as_str()), bind(&stores).0).is_some() {
                return Err(ServerError::DuplicateGraph(id));
            }
        }
        let app = Arc::new(App::new(Graphs::new(bound), checkpointer, store, options));
        for (id, _) in app.graphs.iter() {
            app.records.create_assistant(AssistantRecord::of_graph(id)).await.map_err(ServerError::Store)?;
        }
        recover(&app).await.map_err(ServerError::Store)?;
        // Only now it is known which threads have runs.
        expiry::start(&app);
        crons::start(&app);
        #[cfg(feature = "webhooks")]
        crate::webhooks::start(&app);
        log::server_started(app.graphs.iter().count());
        Ok(Started(app))
    }

    /// Starts the server and listens on an address until the process ends.
    ///
    /// # Errors
    /// As [`start`](Self::start), and [`Listen`](ServerError::Listen) if the address cannot be listened on.
    ///
    /// # Cancel safety
    /// A dropped call stops listening.
    pub async fn serve(self, address: impl ToSocketAddrs + std::fmt::Debug) -> Result<(), ServerError> {
        let name = format!("{address:?}");
        let failed = |source| ServerError::Listen { address: name.clone(), source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        self.start().await?.serve(listener, std::future::pending()).await
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ids: Vec<&str> = self.graphs.iter().map(|(id, _)| id.as_str()).collect();
        f.debug_struct("Server").field("graphs", &ids).finish_non_exhaustive()
    }
}

/// A server that has been started. Cloning is cheap.
#[derive(Clone)]
pub struct Started(Arc<App>);

impl Started {
    /// Returns the routes of the server, to be nested in an application that listens itself.
    ///
    /// [`serve`](Self::serve) does two things for its connections that routes cannot do: it disconnects a client that reads
    /// nothing of a stream for a minute, and it sends a waiting stream without the buffers of HTTP. A body cannot do the first one
    /// by itself, because HTTP does not ask it for more while the client reads nothing.
    ///
    /// An application that serves clients that it does not trust needs a write timeout in the connections of its listener, and
    /// a [`stream_limit`](Server::stream_limit).
    pub fn router(&self) -> Router {
        http::routes(Arc::clone(&self.0))
    }
}

impl Started {
    #[cfg(test)]
    pub(crate) fn app(&self) -> &Arc<App> {
        &self.0
    }

    /// Stops the runs of this server: each stops after its current superstep, and the next server on the same stores
    /// continues it.
    ///
    /// Runs that need longer than `grace` are stopped within their superstep. Nothing that they have stored is lost.
    ///
    /// # Cancel safety
    /// A dropped call stops the runs that are left within their superstep.
    pub async fn shutdown(&self, grace: Duration) {
        log::server_stopping(self.0.runs.count_open());
        self.0.scheduler.stop();
        self.0.sender.stop();
        self.0.runs.drain();
        // Dropped at the end of the time, it ends the rest.
        let _late = tokio::time::timeout(grace, self.0.runs.idle()).await;
        // Their readers have seen the end of the runs, and would wait for further ones.
        self.0.thread_streams.close();
        log::server_stopped(self.0.runs.count_open());
    }
}

impl std::fmt::Debug for Started {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ids: Vec<&str> = self.0.graphs.iter().map(|(id, _)| &**id).collect();
        f.debug_struct("Started").field("graphs", &ids).finish_non_exhaustive()
    }
}
