//! Updates as clients write them.

use serde_json::Value;
use superstep::GraphState;
use superstep::state::Update;
use superstep::thread::AsNode;

use crate::api_error::{ApiError, ApiResult};

/// Reads an update. `null` writes nothing.
pub(super) fn read_update<S: GraphState>(values: Value) -> ApiResult<S::Update> {
    if values.is_null() {
        return Ok(S::Update::default());
    }
    S::Update::from_json(values).map_err(|error| ApiError::unprocessable(error.to_string()))
}

/// Reads the name of a node as clients write it.
pub(super) fn as_node(name: String) -> AsNode {
    AsNode::named(match name.as_str() {
        "__start__" => "START".to_owned(),
        "__end__" => "END".to_owned(),
        _ => name,
    })
}
