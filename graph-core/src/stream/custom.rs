use std::any::Any;
use std::fmt;
use std::sync::Arc;

use serde::{Serialize, Serializer};

/// A value that a node sent with [`Context::emit`](crate::Context::emit).
#[derive(Clone)]
pub struct Custom(Arc<dyn Erased>);

trait Erased: Any + Send + Sync {
    fn as_any(&self) -> &(dyn Any + Send + Sync);
    fn to_json(&self) -> Result<serde_json::Value, serde_json::Error>;
}

impl<T: Serialize + Send + Sync + 'static> Erased for T {
    fn as_any(&self) -> &(dyn Any + Send + Sync) {
        self
    }

    fn to_json(&self) -> Result<serde_json::Value, serde_json::Error> {
        serde_json::to_value(self)
    }
}

impl Custom {
    pub(crate) fn new<T: Serialize + Send + Sync + 'static>(value: T) -> Self {
        Self(Arc::new(value))
    }

    /// Returns the value, if its type is `T`.
    pub fn get<T: 'static>(&self) -> Option<&T> {
        self.0.as_any().downcast_ref()
    }

    /// Serializes the value to JSON.
    ///
    /// # Errors
    /// The error of the value's serializer.
    pub fn to_json(&self) -> Result<serde_json::Value, serde_json::Error> {
        self.0.to_json()
    }
}

impl Serialize for Custom {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().map_err(serde::ser::Error::custom)?.serialize(serializer)
    }
}

impl fmt::Debug for Custom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to_json() {
            Ok(json) => write!(f, "Custom({json})"),
            Err(_) => f.write_str("Custom(..)"),
        }
    }
}
