use std::fmt;
use std::sync::Arc;

use superstep::GraphState;
use thiserror::Error;

use crate::model::request::ToolSpec;

use super::Tool;

/// A set of tools that a model may call.
///
/// ```
/// use superstep_agent::tool;
/// use superstep_agent::tool::Tools;
/// use superstep::messages::MessagesState;
///
/// /// Adds two numbers.
/// #[tool]
/// async fn add(a: f64, b: f64) -> f64 {
///     a + b
/// }
///
/// let tools = Tools::<MessagesState>::new().with(add);
/// assert_eq!(tools.specs()[0].description, "Adds two numbers.");
/// ```
pub struct Tools<S: GraphState, D = ()> {
    tools: Vec<(ToolSpec, Arc<dyn Tool<S, D>>)>,
}

impl<S: GraphState, D: Send + Sync + 'static> Tools<S, D> {
    /// Creates an empty set.
    pub fn new() -> Self {
        Self { tools: Vec::new() }
    }

    /// Adds a function marked with [`#[tool]`](macro@crate::tool).
    pub fn with<T: Tool<S, D>>(self, tool: fn() -> T) -> Self {
        self.with_tool(tool())
    }

    /// Adds a value that implements [`Tool`].
    pub fn with_tool(mut self, tool: impl Tool<S, D>) -> Self {
        let tool: Arc<dyn Tool<S, D>> = Arc::new(tool);
        self.tools.push((tool.spec(), tool));
        self
    }

    /// Returns the descriptions of the tools for a model.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.iter().map(|(spec, _)| spec.clone()).collect()
    }

    /// Returns `true` if the set is empty.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    pub(super) fn find(&self, name: &str) -> Option<&dyn Tool<S, D>> {
        self.tools.iter().find(|(spec, _)| spec.name == name).map(|(_, tool)| &**tool)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(|(spec, _)| spec.name.as_str())
    }

    /// Checks that the names are unique and that models accept them.
    pub(crate) fn check(&self) -> Result<(), InvalidTools> {
        let mut problems = Vec::new();
        for (index, name) in self.names().enumerate() {
            if self.names().take(index).any(|other| other == name) {
                problems.push(format!("two tools have the name `{name}`"));
            }
            let allowed = |char: char| char.is_ascii_alphanumeric() || char == '_' || char == '-';
            if name.is_empty() || name.len() > 64 || !name.chars().all(allowed) {
                problems.push(format!(
                    "`{name}` is not a valid tool name: use 1 to 64 ASCII letters, digits, `_` or `-`"
                ));
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(InvalidTools { problems }) }
    }
}

/// The error of a set of tools with invalid or duplicate names.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("these tools cannot be offered to a model: {}", problems.join("; "))]
pub struct InvalidTools {
    problems: Vec<String>,
}

impl InvalidTools {
    /// Returns the problems, in the order of the tools.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }
}

impl<S: GraphState, D: Send + Sync + 'static> Default for Tools<S, D> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S: GraphState, D> Clone for Tools<S, D> {
    fn clone(&self) -> Self {
        Self { tools: self.tools.clone() }
    }
}

impl<S: GraphState, D> fmt::Debug for Tools<S, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.tools.iter().map(|(spec, _)| &spec.name)).finish()
    }
}
