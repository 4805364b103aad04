use std::any::Any;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use crate::engine::cx::{At, Context, ContextWith, RunShared};

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

    fn app_context(&self) -> &dyn AppContext {
        &*self.context
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
