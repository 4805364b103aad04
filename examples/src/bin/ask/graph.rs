use superstep::{END, Error, Graph, START, StateGraph};

use crate::inquiry::Inquiry;
use crate::library::Library;
use crate::nodes::{compose, consult, grade, plan, rewrite, search};

/// plan → search (each part at once) → grade → compose, with detours by rewrite (other words of its own) and consult (other
/// words of the person) back to search.
///
/// Where `plan`, `grade`, `rewrite` and `consult` lead to is written on the routes that they return; only what does not choose needs
/// an edge.
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

#[cfg(test)]
mod tests;
