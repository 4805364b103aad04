//! Runs a derive. Prints the expansion if `SUPERSTEP_EXPAND` asks for it.

use std::fmt::Write;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::DeriveInput;

use crate::{graph, state, tool};

pub(crate) fn expand(
    input: proc_macro::TokenStream,
    derive: fn(DeriveInput) -> TokenStream,
) -> proc_macro::TokenStream {
    let input: DeriveInput = match syn::parse(input) {
        Ok(input) => input,
        Err(error) => return error.into_compile_error().into(),
    };
    let name = input.ident.to_string();
    shown(&name, derive(input)).into()
}

pub(crate) fn expand_state(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let (name, output) = state::derive(input.into());
    shown(&name, output).into()
}

pub(crate) fn expand_tool(
    attributes: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    let tool = tool::tool(attributes.into(), item.into());
    shown(&tool.name, tool.items);
    tool.item.into()
}

pub(crate) fn expand_graph(text: proc_macro::TokenStream) -> proc_macro::TokenStream {
    shown("graph!", graph::graph(text.into())).into()
}

/// Returns the expansion, and prints it if it is wanted.
fn shown(name: &str, output: TokenStream) -> TokenStream {
    if std::env::var("SUPERSTEP_EXPAND").is_ok_and(|wanted| wanted == name || wanted == "all") {
        eprintln!("{}", layout(output.clone()));
    }
    output
}

/// Formats tokens with one line per statement and block. Readable enough without a formatter as a dependency.
fn layout(tokens: TokenStream) -> String {
    let mut text = String::new();
    lay_out(tokens, 0, &mut text);
    text
}

fn lay_out(tokens: TokenStream, depth: usize, text: &mut String) {
    let mut line = TokenStream::new();
    for token in tokens {
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                flush(&mut line, depth, " {", text);
                lay_out(group.stream(), depth + 1, text);
                flush(&mut line, depth, "}", text);
            }
            TokenTree::Punct(punct) if punct.as_char() == ';' => flush(&mut line, depth, ";", text),
            other => line.extend([other]),
        }
    }
    if !line.is_empty() {
        flush(&mut line, depth, "", text);
    }
}

fn flush(line: &mut TokenStream, depth: usize, end: &str, text: &mut String) {
    let indent = "    ".repeat(depth);
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{indent}{}{end}", std::mem::take(line));
}
