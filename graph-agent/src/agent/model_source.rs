use std::fmt;
use std::sync::Arc;

use crate::ChatModel;

type Choose<D> = dyn Fn(&D) -> Arc<dyn ChatModel> + Send + Sync;

/// The source of the model for a run: a fixed model, or a function of the application context.
pub(super) enum ModelSource<D> {
    Fixed(Arc<dyn ChatModel>),
    Context(Arc<Choose<D>>),
}

impl<D> ModelSource<D> {
    pub(super) fn model(&self, context: &D) -> Arc<dyn ChatModel> {
        match self {
            Self::Fixed(model) => Arc::clone(model),
            Self::Context(choose) => choose(context),
        }
    }
}

impl<D> Clone for ModelSource<D> {
    fn clone(&self) -> Self {
        match self {
            Self::Fixed(model) => Self::Fixed(Arc::clone(model)),
            Self::Context(choose) => Self::Context(Arc::clone(choose)),
        }
    }
}

impl<D> fmt::Debug for ModelSource<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(model) => f.write_str(model.name()),
            Self::Context(_) => f.write_str("(from the context)"),
        }
    }
}
