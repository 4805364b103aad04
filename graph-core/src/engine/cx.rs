use std::ops::Deref;
use std::sync::Arc;

/// A run, as a node sees it.
#[derive(Debug)]
pub struct Cx {
    _step: u64,
}

/// A run with the graph's context of type `D`; derefs to [`Cx`].
#[derive(Debug)]
pub struct Ctx<D> {
    cx: Cx,
    context: Arc<D>,
}

impl<D> Ctx<D> {
    /// The context that the run was given.
    pub fn context(&self) -> &D {
        &self.context
    }
}

impl<D> Deref for Ctx<D> {
    type Target = Cx;

    fn deref(&self) -> &Cx {
        &self.cx
    }
}
