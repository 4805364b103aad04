//! The generated code. Nothing here fails; above each function stands what it emits for the smallest input.
//!
//! Only what users name lies outside the `const` block: the update, the input, the output. Inside lie the enum of
//! writes, which the update reaches through its trait, and all impls.

use proc_macro2::TokenStream;
use quote::quote;

use super::model::State;

mod apply;
mod assert;
mod constants;
mod context;
mod dump;
mod fields;
mod flatten;
mod function;
mod input;
mod json;
mod messages;
mod migrate;
mod output;
mod schema;
mod span;
mod stand_in;
mod start;
mod state_impl;
mod stored;
mod update;
mod validate;
mod write;

pub(super) use stand_in::stand_in;

use context::Context;

/// Lints that generated code would trip in the user's crate without the user being able to mend it.
pub(super) fn lints() -> TokenStream {
    quote! {
        #[allow(
            dead_code, deprecated, missing_docs, non_camel_case_types, non_snake_case, non_upper_case_globals,
            private_bounds, private_interfaces, unreachable_code, unreachable_patterns, unreachable_pub,
            unused_variables, unused_mut, unused_qualifications, clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction
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
