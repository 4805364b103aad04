use superstep::{END, Error, Graph, START, StateGraph};

use crate::inquiry::Inquiry;
use crate::library::Library;
use crate::nodes::{compose, consult, grade, plan, rewrite, search};

/// Builds the graph: plan → search (all parts in parallel) → grade → compose.
///
/// From `grade`, the nodes `rewrite` (corrects or drops words) and `consult` (asks the user for other words) lead back to `search`.
/// The routes of `plan`, `grade`, `rewrite` and `consult` name their targets. Only nodes without a route need edges.
pub(crate) fn graph() -> Result<Graph<Inquiry, Library>, Error> {
    StateGraph::<Inquiry>::with_context::<Library>()
        .name("ask")
        .edge(START, plan)
        .edge(search, grade)
        .node(rewrite)
        .node(consult)
        .edge(compose, END)
        .compile()
}

// With its path, because `serve` has this file too.
#[cfg(test)]
#[path = "graph/tests.rs"]
mod tests;
