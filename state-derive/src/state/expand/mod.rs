//! Generates the code. No function here can fail. The comment above each function shows its output for the smallest
//! input.
//!
//! Only types that users name are outside the `const` block: the update, the input and the output. The block contains
//! all impls and the enum of writes, which is reachable through the update's trait.

use proc_macro2::TokenStream;
use quote::quote;

use super::model::State;

mod apply;
mod assert;
mod constants;
mod context;
mod dump;
mod fallback;
mod field_types;
mod fields;
mod flatten;
mod function;
mod input;
mod json;
mod messages;
mod migrate;
mod output;
mod schema;
mod setter;
mod span;
mod stand_in;
mod start;
mod state_impl;
mod stored;
mod update;
mod validate;
mod wiring;
mod write;

pub(super) use fallback::fallback;

use context::Context;

/// Allows lints that generated code may trigger and users could not fix.
pub(super) fn lints() -> TokenStream {
    quote! {
        #[allow(
            dead_code, deprecated, missing_docs, non_camel_case_types, non_snake_case, non_upper_case_globals,
            private_bounds, private_interfaces, unreachable_code, unreachable_patterns, unreachable_pub,
            unexpected_cfgs, unused_variables, unused_mut, unused_qualifications, clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction
        )]
    }
}

// struct TicketUpdate { .. }
// struct TicketInput { .. }
// struct TicketOutput { .. }
// const _: () = { enum __Write { .. } impl GraphState for Ticket { .. } .. };
pub(super) fn expand(state: &State) -> TokenStream {
    let cx = &Context::new(state);
    let types = [update::item(cx), input::item(cx), output::item(cx)];
    let parts = [
        assert::items(cx),
        constants::items(cx),
        stored::places(cx),
        function::items(cx),
        write::items(cx),
        apply::item(cx),
        update::impls(cx),
        input::impls(cx),
        start::item(cx),
        fields::start_functions(cx),
        output::impls(cx),
        flatten::items(cx),
        messages::item(cx),
        state_impl::item(cx),
        dump::item(cx),
        schema::item(cx),
    ];
    let lints = lints();
    quote! {
        #(#types)*
        #[doc(hidden)]
        #lints
        const _: () = { #(#parts)* };
    }
}
