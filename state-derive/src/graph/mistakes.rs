//! The messages for text that is not that of a graph, but that people write because another notation has it.

use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::{ExprPath, Ident, Token, token};

/// Returns the message for tokens in the place of an arrow.
pub(super) fn instead_of_arrow(input: ParseStream<'_>) -> &'static str {
    if input.peek(Token![<-]) || input.peek(Token![<]) {
        "an arrow points to the right: write `a -> b`"
    } else if input.peek(Token![|]) {
        "the targets of a route stand in braces: write `{ a | b }`"
    } else if input.peek(token::Brace) {
        "a value has a name outside the text: write `let ask = named(\"ask\", ..);` before the graph, and `&ask` here"
    } else if input.peek(Token![,]) {
        "expected `;`: each line of a graph ends with it"
    } else {
        "expected `->` for an edge, `=>` for a join, or `;`"
    }
}

/// Refuses `state Ticket;` and `context Clients;` among the statements.
pub(super) fn head_as_statement(input: ParseStream<'_>) -> syn::Result<()> {
    let ahead = input.fork();
    let Ok(word) = ahead.parse::<Ident>() else { return Ok(()) };
    if !ahead.peek(Ident::peek_any) {
        return Ok(());
    }
    if word == "state" {
        Err(syn::Error::new(word.span(), "a graph has one state, in its first line"))
    } else if word == "context" {
        Err(syn::Error::new(word.span(), "the context stands in the second line, after `state ..;`"))
    } else {
        Ok(())
    }
}

/// Returns the message for tokens after a target of a route.
pub(super) fn after_target(target: ParseStream<'_>) -> &'static str {
    if target.peek(Token![,]) {
        "the targets of a route are separated by `|`: `{ a | b }`"
    } else {
        "expected `|`: a target is a node alone, and the variants of the route say when it is chosen"
    }
}

/// Returns the message for tokens after a node in parentheses.
pub(super) fn after_member(member: ParseStream<'_>) -> &'static str {
    if member.peek(Token![|]) {
        "nodes in parentheses are separated by `,` and all run; the targets of a route stand in braces: `{ a | b }`"
    } else {
        "expected `,`: nodes in parentheses are separated by it"
    }
}

/// Refuses what cannot begin a path.
pub(super) fn not_a_path(input: ParseStream<'_>) -> syn::Result<()> {
    if input.peek(Token![async]) || input.peek(Token![move]) || input.peek(Token![|]) {
        return Err(input.error(
            "a closure has a name outside the text: write `let ask = named(\"ask\", async |..| ..);` before the graph, and `&ask` here",
        ));
    }
    Ok(())
}

/// Refuses what cannot follow the path of a node.
pub(super) fn after_path(path: &ExprPath, input: ParseStream<'_>) -> syn::Result<()> {
    if input.peek(token::Paren) {
        let is = |word: &str| path.path.is_ident(word);
        let message = if is("named") {
            "a node gets its name outside the text: write `let ask = named(\"ask\", ..);` before the graph, and `&ask` here"
        } else if is("join") {
            "a join is an arrow: `(a, b) => c`"
        } else {
            "name the function, without calling it"
        };
        return Err(input.error(message));
    }
    if input.peek(Token![.]) {
        let ahead = input.fork();
        let is_call = ahead.parse::<Token![.]>().is_ok()
            && ahead.call(Ident::parse_any).is_ok()
            && ahead.peek(token::Paren);
        return Err(input.error(if is_call {
            "the text has the arrows only: call methods on the graph that the macro returns, such as `.policy(draft, ..)`"
        } else {
            "a value stands behind `&`: `&bot`, or `&self.bot`"
        }));
    }
    Ok(())
}
