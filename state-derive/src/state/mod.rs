//! `#[derive(GraphState)]`: tokens → [`parse`] → [`build`] → [`model`] → [`check`] → [`expand`].

use proc_macro2::TokenStream;
use quote::quote;
use syn::DeriveInput;

use crate::attr::Problems;

mod attrs;
mod bounds;
pub(crate) mod build;
mod built_in;
mod check;
mod expand;
mod lifetimes;
mod map_key;
mod model;
mod parse;
mod recover;
mod rule;
mod self_type;
mod serde_attr;
mod start_rules;
#[cfg(test)]
mod tests;
mod words;

/// Returns the struct's name and the generated code.
pub(crate) fn derive(input: TokenStream) -> (String, TokenStream) {
    match syn::parse2::<DeriveInput>(input.clone()) {
        Ok(input) => (input.ident.to_string(), expand(input)),
        Err(error) => match recover::read(input) {
            Ok(input) => (input.ident.to_string(), expand_recovered(input, &error)),
            Err(_) => (String::new(), error.into_compile_error()),
        },
    }
}

fn expand(input: DeriveInput) -> TokenStream {
    let mut problems = Problems::default();
    let attributes = words::attributes(&input);
    let state = read(input, &mut problems);
    let words = words::words(&attributes, &state.runtime);
    let is_correct = !problems.are_known_to_rustc();
    let code = match problems.into_error() {
        None if is_correct => expand::expand(&state),
        mistakes => expand::fallback(&state, mistakes),
    };
    quote!(#words #code)
}

/// Generates the fallback only: rustc has reported the mistake.
fn expand_recovered(input: DeriveInput, error: &syn::Error) -> TokenStream {
    let state = read(input, &mut Problems::default());
    let (fallback, error) = (expand::fallback(&state, None), recover::unless_reported(error));
    quote!(#fallback #error)
}

fn read(input: DeriveInput, problems: &mut Problems) -> model::State {
    let (input, lifetimes) = lifetimes::without(self_type::named(input), problems);
    let raw = parse::parse(input, problems);
    check::syntax(&raw, problems);
    let state = build::build(raw, lifetimes, problems);
    check::meaning(&state, problems);
    map_key::check(&state, problems);
    start_rules::check(&state, problems);
    state
}
