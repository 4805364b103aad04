use std::fmt;
use std::sync::Arc;

use superstep::GraphState;
use thiserror::Error;

use crate::model::request::ToolSpec;

use super::Tool;

/// The tools that a model may have called.
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
    /// None yet.
    pub fn new() -> Self {
        Self { tools: Vec::new() }
    }

    /// Adds a function that is marked [`#[tool]`](macro@crate::tool).
    pub fn with<T: Tool<S, D>>(self, tool: fn() -> T) -> Self {
        self.with_tool(tool())
    }

    /// Adds a tool that is a value.
    pub fn with_tool(mut self, tool: impl Tool<S, D>) -> Self {
        let tool: Arc<dyn Tool<S, D>> = Arc::new(tool);
        self.tools.push((tool.spec(), tool));
        self
    }

    /// What a model is told of them.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.iter().map(|(spec, _)| spec.clone()).collect()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    pub(super) fn named(&self, name: &str) -> Option<&dyn Tool<S, D>> {
        self.tools.iter().find(|(spec, _)| spec.name == name).map(|(_, tool)| &**tool)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(|(spec, _)| spec.name.as_str())
    }

    /// Looks for names that a model could not use.
    pub(crate) fn check(&self) -> Result<(), BadTools> {
        let mut problems = Vec::new();
        for (at, name) in self.names().enumerate() {
            if self.names().take(at).any(|other| other == name) {
                problems.push(format!("two tools are called `{name}`"));
            }
            let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
            if name.is_empty() || name.len() > 64 || !name.chars().all(fits) {
                problems.push(format!(
                    "`{name}` cannot be a tool's name: 1 to 64 of ASCII letters, digits, `_` and `-` can"
                ));
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(BadTools { problems }) }
    }
}

/// Tools that no model could be offered.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("these tools cannot be offered to a model: {}", problems.join("; "))]
pub struct BadTools {
    problems: Vec<String>,
}

impl BadTools {
    /// Each problem, in the order of the tools.
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
