use std::fmt;
use std::sync::Arc;

use crate::ChatModel;

type Choose<D> = dyn Fn(&D) -> Arc<dyn ChatModel> + Send + Sync;

/// The model that is asked: always the same, or what the context says.
pub(super) enum Chosen<D> {
    Always(Arc<dyn ChatModel>),
    By(Arc<Choose<D>>),
}

impl<D> Chosen<D> {
    pub(super) fn model(&self, context: &D) -> Arc<dyn ChatModel> {
        match self {
            Self::Always(model) => Arc::clone(model),
            Self::By(choose) => choose(context),
        }
    }
}

impl<D> Clone for Chosen<D> {
    fn clone(&self) -> Self {
        match self {
            Self::Always(model) => Self::Always(Arc::clone(model)),
            Self::By(choose) => Self::By(Arc::clone(choose)),
        }
    }
}

impl<D> fmt::Debug for Chosen<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Always(model) => f.write_str(model.name()),
            Self::By(_) => f.write_str("(of the context)"),
        }
    }
}
