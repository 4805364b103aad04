use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::StatusCode;
use axum::http::request::Parts;
use superstep::checkpoint::Checkpointer;
use superstep::store::LongTermStore;

use crate::api_error::{ApiError, ApiResult};
use crate::auth::Identity;
use crate::crons::Scheduler;
use crate::graphs::Graphs;
use crate::limits::Streams;
use crate::metrics::Metrics;
use crate::options::Options;
use crate::records::Records;
use crate::runs::{LiveRun, Runs};
use crate::thread_stream::ThreadStreams;
use crate::webhooks::Sender;

/// Everything that the handlers of requests share, as one caller sees it.
#[derive(Clone)]
pub(crate) struct App {
    pub(crate) graphs: Graphs,
    pub(crate) checkpointer: Arc<dyn Checkpointer>,
    /// The long-term store of the graphs. The server keeps its own records in it as well, in namespaces of its own.
    pub(crate) store: LongTermStore,
    /// The records that the caller may see.
    pub(crate) records: Records,
    pub(crate) runs: Arc<Runs>,
    /// The events of threads, over all their runs.
    pub(crate) thread_streams: Arc<ThreadStreams>,
    pub(crate) scheduler: Arc<Scheduler>,
    pub(crate) sender: Arc<Sender>,
    pub(crate) streams: Arc<Streams>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) options: Arc<Options>,
    /// The caller. `None` for the server itself, and if callers are not told apart.
    pub(crate) caller: Option<Arc<Identity>>,
    /// The same as the server itself sees it, if there is a caller.
    server: Option<Arc<App>>,
}

impl App {
    pub(crate) fn new(
        graphs: Graphs,
        checkpointer: Arc<dyn Checkpointer>,
        store: LongTermStore,
        options: Options,
    ) -> Self {
        let records = Records::new(&store);
        // The events of runs and those of threads have one budget.
        let budget = Arc::default();
        let (runs, options) = (Arc::new(Runs::new(&budget)), Arc::new(options));
        Self {
            graphs,
            checkpointer,
            store,
            records,
            runs,
            thread_streams: Arc::new(ThreadStreams::new(&budget)),
            scheduler: Arc::default(),
            sender: Arc::default(),
            streams: Arc::default(),
            metrics: Arc::default(),
            options,
            caller: None,
            server: None,
        }
    }

    /// Returns the app as a caller sees it.
    pub(crate) fn seen_by(self: &Arc<Self>, caller: Identity) -> Arc<Self> {
        let server = self.as_server();
        let caller = Arc::new(caller);
        let records = server.records.seen_by(&caller);
        Arc::new(Self {
            records,
            caller: Some(caller),
            server: Some(Arc::clone(server)),
            ..Self::clone(server)
        })
    }

    /// Returns the app as the server itself sees it, for work that outlives a request.
    pub(crate) fn as_server(self: &Arc<Self>) -> &Arc<Self> {
        self.server.as_ref().unwrap_or(self)
    }

    /// Returns the id to which things belong that the caller creates.
    pub(crate) fn user_id(&self) -> Option<Arc<str>> {
        self.caller.as_ref().map(|caller| caller.shared_id())
    }

    /// Returns `true` if the caller may see a run: its thread, or the run itself if it has none.
    pub(crate) async fn sees(&self, live: &LiveRun) -> ApiResult<bool> {
        let Some(caller) = &self.caller else { return Ok(true) };
        Ok(match live.thread_id {
            Some(thread) => self.records.thread(thread).await?.is_some(),
            None => caller.sees(live.user_id.as_deref()),
        })
    }
}

/// The app as the caller of a request sees it.
pub(crate) struct Shared(pub(crate) Arc<App>);

/// The app that [`guard`](crate::http) has made for the caller of a request.
#[derive(Clone)]
pub(crate) struct CallerApp(pub(crate) Arc<App>);

impl FromRequestParts<Arc<App>> for Shared {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> ApiResult<Self> {
        match parts.extensions.get::<CallerApp>() {
            Some(CallerApp(app)) => Ok(Self(Arc::clone(app))),
            None if app.options.authenticate.is_none() => Ok(Self(Arc::clone(app))),
            // Only a route without access control comes here.
            None => Err(ApiError::new(StatusCode::UNAUTHORIZED, "the caller is not known")),
        }
    }
}
