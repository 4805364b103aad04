//! The derive macros of `superstep`, and the `#[tool]` attribute of `superstep-agent`. They are documented where they
//! are re-exported.
//!
//! Each macro is a pipeline: tokens → `parse` (attribute syntax) → `model` (meaning and spans) → `check` (finds every
//! mistake) → `expand` (cannot fail). `attr` has the shared parts.
//!
//! Set the environment variable `SUPERSTEP_EXPAND=Ticket` (or `all`) while compiling a crate to print the code that is
//! generated for `Ticket` to stderr.

use proc_macro::TokenStream;

mod attr;
mod generics;
mod graph;
mod machine;
mod route;
mod show;
#[cfg(test)]
mod snapshot;
mod state;
mod tool;
mod update;
mod view;

#[expect(missing_docs, reason = "documented on the re-export, next to its traits")]
#[proc_macro_derive(GraphState, attributes(state, serde))]
pub fn derive_graph_state(input: TokenStream) -> TokenStream {
    show::expand_state(input)
}

#[expect(missing_docs, reason = "documented on the re-export, next to its traits")]
#[proc_macro_derive(Route, attributes(to, route))]
pub fn derive_route(input: TokenStream) -> TokenStream {
    show::expand(input, route::derive)
}

#[expect(missing_docs, reason = "documented on the re-export, next to its traits")]
#[proc_macro_derive(Machine, attributes(machine))]
pub fn derive_machine(input: TokenStream) -> TokenStream {
    show::expand(input, machine::derive)
}

#[expect(missing_docs, reason = "documented on the re-export, next to its traits")]
#[proc_macro_derive(StateView, attributes(view))]
pub fn derive_state_view(input: TokenStream) -> TokenStream {
    show::expand(input, view::derive)
}

#[expect(missing_docs, reason = "documented on the re-export, next to its traits")]
#[proc_macro_derive(StateUpdate, attributes(update))]
pub fn derive_state_update(input: TokenStream) -> TokenStream {
    show::expand(input, update::derive)
}

#[expect(missing_docs, reason = "documented on the re-export, next to its traits")]
#[proc_macro_attribute]
pub fn tool(attributes: TokenStream, item: TokenStream) -> TokenStream {
    show::expand_tool(attributes, item)
}

#[doc(hidden)]
#[proc_macro_attribute]
pub fn tool_items(items: TokenStream, _: TokenStream) -> TokenStream {
    items
}

#[expect(missing_docs, reason = "documented on `superstep::graph!`")]
#[proc_macro]
pub fn graph(text: TokenStream) -> TokenStream {
    show::expand_graph(text)
}
