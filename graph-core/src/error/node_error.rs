use std::error::Error;
use std::fmt;

use crate::contain::write_error;
use crate::error::CAUSED_BY;

use super::error_name::error_name;

/// The error of a node, which `?` makes from any error.
///
/// It does not implement [`Error`] itself: `From` could then not convert every error into it.
pub struct NodeError {
    error: Box<dyn Error + Send + Sync>,
    type_name: &'static str,
}

/// The return type of a node that can fail.
pub type Result<T, E = NodeError> = std::result::Result<T, E>;

impl NodeError {
    /// Creates an error from a message.
    pub fn msg(message: impl Into<String>) -> Self {
        Self { error: message.into().into(), type_name: "superstep::NodeError" }
    }

    /// Creates an error from a boxed error, or from a value that converts into one. `?` does not take a `Box<dyn Error>`,
    /// because it does not implement `Error`.
    pub fn from_boxed(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::of(error)
    }

    fn of<E: Into<Box<dyn Error + Send + Sync>>>(error: E) -> Self {
        Self { error: error.into(), type_name: error_name(std::any::type_name::<E>()) }
    }

    /// Returns the name of the error's type, for logs and metrics. It reveals nothing about the values in the error.
    ///
    /// For an error from a message, it is the name of this type. For a type of this library, it is the public path. For any
    /// other type, it is the result of [`type_name`](std::any::type_name).
    pub fn type_name(&self) -> &'static str {
        self.type_name
    }

    /// Returns the error.
    pub fn as_error(&self) -> &(dyn Error + Send + Sync + 'static) {
        &*self.error
    }

    /// Returns the error if it is an `E`.
    pub fn downcast_ref<E: Error + 'static>(&self) -> Option<&E> {
        self.error.downcast_ref()
    }

    pub(crate) fn into_inner(self) -> Box<dyn Error + Send + Sync> {
        self.error
    }
}

/// Returns early with a [`NodeError`] from a message. The arguments are those of `format!`.
///
/// ```
/// use superstep::{Result, bail};
///
/// fn half(n: u32) -> Result<u32> {
///     if n % 2 == 1 {
///         bail!("{n} has no half");
///     }
///     Ok(n / 2)
/// }
/// assert_eq!(half(3).unwrap_err().to_string(), "3 has no half");
/// ```
#[macro_export]
macro_rules! bail {
    ($($message:tt)*) => {
        return ::core::result::Result::Err(::core::convert::Into::into($crate::NodeError::msg(
            $crate::__private::format!($($message)*),
        )))
    };
}

impl<E: Error + Send + Sync + 'static> From<E> for NodeError {
    fn from(error: E) -> Self {
        Self::of(error)
    }
}

/// `?` converts a node's error where the caller returns `Result<_, Box<dyn Error + Send + Sync>>`.
impl From<NodeError> for Box<dyn Error + Send + Sync> {
    fn from(error: NodeError) -> Self {
        error.error
    }
}

/// `?` converts a node's error where the caller returns `Result<_, Box<dyn Error>>`.
///
/// ```
/// use superstep::{Result, bail};
///
/// fn half(n: u32) -> Result<u32> {
///     if n % 2 == 1 {
///         bail!("{n} has no half");
///     }
///     Ok(n / 2)
/// }
///
/// fn quarter(n: u32) -> Result<u32, Box<dyn std::error::Error>> {
///     Ok(half(half(n)?)?)
/// }
/// assert_eq!(quarter(6).unwrap_err().to_string(), "3 has no half");
/// ```
impl From<NodeError> for Box<dyn Error> {
    fn from(error: NodeError) -> Self {
        error.error
    }
}

/// An error type of a node: [`NodeError`], or a type that `?` converts into it.
#[diagnostic::on_unimplemented(
    message = "a node cannot fail with `{Self}`",
    label = "fails with `{Self}`, which is not an error",
    note = "return `superstep::Result<_>`: `?` converts any `std::error::Error`, and `NodeError::msg(..)` makes an error from a message"
)]
pub trait Failure {
    /// Converts the error into a [`NodeError`].
    fn into_node_error(self) -> NodeError;
}

#[diagnostic::do_not_recommend]
impl<E: Into<NodeError>> Failure for E {
    fn into_node_error(self) -> NodeError {
        self.into()
    }
}

impl fmt::Debug for NodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_error(&*self.error, CAUSED_BY, f)
    }
}

impl fmt::Display for NodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.error, f)
    }
}
