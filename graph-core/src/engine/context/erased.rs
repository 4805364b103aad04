use std::any::Any;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use crate::engine::at::At;

use super::context::{Context, ContextWith, RunShared};

/// The application context of a run, whatever its type.
pub trait AppContext: Any + Send + Sync {
    /// Returns the name of its type, for error messages.
    #[doc(hidden)]
    fn type_name(&self) -> &'static str;

    /// Creates the context of a run.
    #[doc(hidden)]
    fn into_context(self: Arc<Self>, shared: Arc<RunShared>) -> Box<dyn ErasedContext>;
}

impl<D: Send + Sync + 'static> AppContext for D {
    fn type_name(&self) -> &'static str {
        std::any::type_name::<D>()
    }

    fn into_context(self: Arc<Self>, shared: Arc<RunShared>) -> Box<dyn ErasedContext> {
        Box::new(ContextWith::new(shared, self))
    }
}

/// A [`ContextWith`], whatever the type of its application context. Dereferences to [`Context`].
pub trait ErasedContext: Any + Send + Sync {
    #[doc(hidden)]
    fn cx(&self) -> &Context;

    #[doc(hidden)]
    fn cx_mut(&mut self) -> &mut Context;

    /// Returns the context of the same run for another task.
    #[doc(hidden)]
    fn at(&self, at: At) -> Box<dyn ErasedContext>;

    /// Returns the contexts of the same run for several tasks.
    #[doc(hidden)]
    fn at_each(&self, places: &[At]) -> Box<dyn ErasedContexts>;

    /// Returns the application context.
    #[doc(hidden)]
    fn app_context(&self) -> &dyn AppContext;
}

impl<D: Send + Sync + 'static> ErasedContext for ContextWith<D> {
    #[inline]
    fn cx(&self) -> &Context {
        self
    }

    #[inline]
    fn cx_mut(&mut self) -> &mut Context {
        &mut self.cx
    }

    fn at(&self, at: At) -> Box<dyn ErasedContext> {
        Box::new(self.for_task(at))
    }

    fn at_each(&self, places: &[At]) -> Box<dyn ErasedContexts> {
        Box::new(places.iter().map(|at| self.for_task(*at)).collect::<Vec<_>>())
    }

    fn app_context(&self) -> &dyn AppContext {
        &*self.context
    }
}

/// The contexts of several tasks, in one allocation.
pub trait ErasedContexts: Send + Sync {
    /// Returns the context of the nth task.
    #[doc(hidden)]
    fn nth(&self, nth: usize) -> Option<&dyn ErasedContext>;
}

impl<D: Send + Sync + 'static> ErasedContexts for Vec<ContextWith<D>> {
    fn nth(&self, nth: usize) -> Option<&dyn ErasedContext> {
        self.get(nth).map(|ctx| ctx as _)
    }
}

impl Deref for dyn ErasedContext {
    type Target = Context;

    #[inline]
    fn deref(&self) -> &Context {
        self.cx()
    }
}

impl DerefMut for dyn ErasedContext {
    #[inline]
    fn deref_mut(&mut self) -> &mut Context {
        self.cx_mut()
    }
}
