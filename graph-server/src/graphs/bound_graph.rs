use std::sync::Arc;

use superstep::GraphState;
use superstep::checkpoint::{CheckpointId, CheckpointSource};
use superstep::graph::GraphShape;
use superstep::thread::{CallSnapshot, PersistentGraph};

use super::any_graph::{AnyGraph, Boxed, HistoryQuery, PreparedRun, UpdateSpec};
use super::prepared::Prepared;
use super::run_context::MakeContext;
use super::run_spec::RUN_ID;
use super::update::{as_node, read_update};
use super::{RunContext, RunSpec, Schemas, StateView};
use crate::api_error::{ApiError, ApiResult};

/// A served graph with the stores of its server.
pub(super) struct BoundGraph<S: GraphState, D> {
    pub(super) stored: PersistentGraph<S, D>,
    pub(super) context: MakeContext<D>,
    pub(super) schemas: Schemas,
    pub(super) has_subgraphs: bool,
}

impl<S: GraphState, D: Send + Sync + 'static> BoundGraph<S, D> {
    fn context(&self, request: &RunContext) -> ApiResult<Arc<D>> {
        (self.context)(request).map_err(|error| ApiError::unprocessable(error.to_string()))
    }
}

impl<S: GraphState, D: Send + Sync + 'static> AnyGraph for BoundGraph<S, D> {
    fn shape(&self) -> GraphShape {
        self.stored.graph().shape()
    }

    fn has_subgraphs(&self) -> bool {
        self.has_subgraphs
    }

    fn schemas(&self) -> &Schemas {
        &self.schemas
    }

    fn shows(&self, field: &str) -> bool {
        let mut fields = (0..).map_while(S::field);
        fields.any(|spec| spec.name == field && !spec.excluded && !spec.untracked)
    }

    fn prepare(&self, spec: RunSpec) -> ApiResult<Box<dyn PreparedRun>> {
        let context = self.context(&spec.context)?;
        Ok(Box::new(Prepared::read(self.stored.clone(), context, spec)?))
    }

    fn state<'a>(
        &'a self,
        thread: &'a str,
        at: Option<CheckpointId>,
    ) -> Boxed<'a, ApiResult<Option<StateView>>> {
        Box::pin(async move {
            let thread = self.stored.thread(thread);
            let found = match at {
                Some(at) => thread.at(at).state().await?,
                None => thread.state().await?,
            };
            found.map(StateView::of).transpose()
        })
    }

    fn history<'a>(&'a self, thread: &'a str, query: HistoryQuery) -> Boxed<'a, ApiResult<Vec<StateView>>> {
        Box::pin(async move {
            let mut history = self.stored.thread(thread).history();
            if let Some(before) = query.before {
                history = history.before(before);
            }
            let mut step = None;
            for (key, value) in query.metadata {
                // Part of the metadata for clients, but not of those that are stored.
                match &*key {
                    "source" => match value.as_str().and_then(CheckpointSource::from_name) {
                        Some(source) => history = history.source(source),
                        None => return Ok(Vec::new()),
                    },
                    "step" => step = Some(value),
                    "thread_id" if value == thread => {}
                    _ => history = history.filter(key, value),
                }
            }
            let Some(step) = step else {
                return history.limit(query.limit).await?.into_iter().map(StateView::of).collect();
            };
            let mut found = Vec::new();
            while found.len() < query.limit {
                let page = history.next_page().await?;
                if page.is_empty() {
                    break;
                }
                found.extend(page.into_iter().filter(|snapshot| step == snapshot.step));
            }
            found.truncate(query.limit);
            found.into_iter().map(StateView::of).collect()
        })
    }

    fn calls<'a>(
        &'a self,
        thread: &'a str,
        at: Option<CheckpointId>,
    ) -> Boxed<'a, ApiResult<Vec<CallSnapshot>>> {
        Box::pin(async move { Ok(self.stored.thread(thread).calls(at).await?) })
    }

    fn call_history<'a>(
        &'a self,
        thread: &'a str,
        namespace: &'a str,
        query: HistoryQuery,
    ) -> Boxed<'a, ApiResult<Vec<CallSnapshot>>> {
        Box::pin(async move {
            let mut history = self.stored.thread(thread).call_history(namespace).limit(query.limit);
            if let Some(before) = query.before {
                history = history.before(before);
            }
            Ok(history.await?)
        })
    }

    fn update<'a>(&'a self, thread: &'a str, update: UpdateSpec) -> Boxed<'a, ApiResult<CheckpointId>> {
        Box::pin(async move {
            let context = self.context(&update.context)?;
            let mut supersteps = Vec::with_capacity(update.supersteps.len());
            for superstep in update.supersteps {
                let mut updates = Vec::with_capacity(superstep.len());
                for (values, node) in superstep {
                    updates.push((read_update::<S>(values)?, node.map(as_node)));
                }
                supersteps.push(updates);
            }
            let thread = self.stored.thread(thread);
            let written = match update.at {
                Some(at) => thread.at(at).bulk_update(supersteps),
                None => thread.bulk_update(supersteps),
            };
            let written = update
                .metadata
                .into_iter()
                .fold(written, |written, (key, value)| written.metadata(key, value));
            Ok(written.context(context).await?)
        })
    }

    fn undo<'a>(
        &'a self,
        thread: &'a str,
        run_id: &'a str,
        base: Option<CheckpointId>,
    ) -> Boxed<'a, ApiResult<()>> {
        Box::pin(async move {
            let thread = self.stored.thread(thread);
            let own = thread.history().filter(RUN_ID, run_id).await?;
            let base = match (own.last(), base) {
                (_, Some(base)) => Some(base),
                // The latest checkpoint before those of the run. It need not be their parent: the run may be a fork.
                (Some(first), None) => {
                    thread.history().before(first.id).limit(1).await?.first().map(|before| before.id)
                }
                (None, None) => return Ok(()),
            };
            thread.roll_back_to(base).await?;
            Ok(())
        })
    }
}
