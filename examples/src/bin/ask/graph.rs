use graph_core::{END, Error, Graph, START, StateGraph};

use crate::inquiry::Inquiry;
use crate::library::Library;
use crate::nodes::{compose, grade, plan, rewrite, search};

/// plan → search (each part at once) → grade → compose, with a detour by rewrite back to search.
///
/// Where `plan`, `grade` and `rewrite` lead to is written on the routes that they return; only what does not choose needs
/// an edge.
pub(crate) fn graph() -> Result<Graph<Inquiry, Library>, Error> {
    StateGraph::<Inquiry>::with_context::<Library>()
        .name("ask")
        .edge(START, plan)
        .edge(search, grade)
        .node(rewrite)
        .edge(compose, END)
        .compile()
}

#[cfg(test)]
mod tests;
