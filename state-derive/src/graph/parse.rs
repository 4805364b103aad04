use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::{Expr, ExprPath, Path, Token, Type, braced, parenthesized, token};

use crate::attr::Problems;

use super::mistakes;
use super::model::{Link, Node, NodeValue, Place, Single, Statement, Text, Way};

/// Reads the text: the crate, the state, perhaps a context, and statements.
///
/// A statement that cannot be read is a problem, and the others are read all the same. The error is one of the head,
/// without which nothing has a meaning.
pub(crate) fn parse(input: TokenStream, problems: &mut Problems) -> syn::Result<Text> {
    let read = |input: ParseStream<'_>| {
        let krate = input.call(Path::parse_mod_style)?;
        input.parse::<Token![;]>()?;
        let state = head(input, "state")?
            .ok_or_else(|| input.error("a graph begins with the type of its state: `state Ticket;`"))?;
        let context = head(input, "context")?;
        let mut text = Text { krate, state, context, statements: Vec::new(), deferred: Vec::new() };
        statements(input, &mut text, problems);
        Ok(text)
    };
    read.parse2(input)
}

/// Reads `state Ticket;`, if the input begins with that word.
fn head(input: ParseStream<'_>, word: &str) -> syn::Result<Option<Type>> {
    let ahead = input.fork();
    if !ahead.parse::<Ident>().is_ok_and(|first| first == word)
        || ahead.peek(Token![->])
        || ahead.peek(Token![;])
    {
        return Ok(None);
    }
    input.parse::<Ident>()?;
    if input.peek(Token![:]) || input.peek(Token![=]) {
        return Err(input.error(format!("write `{word} Name;`: the word and the type")));
    }
    let ty = input.parse()?;
    if !input.is_empty() && !input.peek(Token![;]) {
        return Err(input.error("expected `;`: each line of a graph ends with it"));
    }
    input.parse::<Token![;]>()?;
    Ok(Some(ty))
}

fn statements(input: ParseStream<'_>, text: &mut Text, problems: &mut Problems) {
    while !input.is_empty() {
        // Up to the semicolon, so that a mistake ends with its statement.
        let mut tokens = TokenStream::new();
        while !input.is_empty() && !input.peek(Token![;]) {
            if let Some(token) = problems.ok(input.parse::<proc_macro2::TokenTree>()) {
                tokens.extend([token]);
            }
        }
        let end = input.parse::<Option<Token![;]>>().ok().flatten();
        if tokens.is_empty() {
            problems.at(end, "nothing stands before this `;`");
            continue;
        }
        match problems.ok(syn::parse2(tokens)) {
            Some(AnyStatement::Deferred(Deferred(place))) => text.deferred.push(place),
            Some(AnyStatement::Ways(statement)) => text.statements.push(statement),
            None => {}
        }
    }
}

/// `defer a` or `defer (a, b)`.
struct Deferred(Place);

impl Deferred {
    /// Returns `true` if a statement begins with the word `defer`, and not with a node of that name.
    fn begins(statement: ParseStream<'_>) -> bool {
        let ahead = statement.fork();
        ahead.parse::<Ident>().is_ok_and(|first| first == "defer")
            && (ahead.peek(Ident::peek_any)
                || ahead.peek(token::Paren)
                || ahead.peek(Token![&])
                || ahead.peek(syn::Lit))
    }
}

impl Parse for Deferred {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        input.parse::<Ident>()?;
        let place = input.parse()?;
        if !input.is_empty() {
            return Err(input.error("`defer` ends with the node: write `;`"));
        }
        Ok(Self(place))
    }
}

/// One statement of the text.
enum AnyStatement {
    Deferred(Deferred),
    Ways(Statement),
}

impl Parse for AnyStatement {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if Deferred::begins(input) {
            input.parse().map(Self::Deferred)
        } else {
            input.parse().map(Self::Ways)
        }
    }
}

impl Parse for Statement {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        mistakes::head_as_statement(input)?;
        let first = input.parse()?;
        let mut links: Vec<Link> = Vec::new();
        while !input.is_empty() {
            if let Some(Link { way: Way::Route { .. }, .. }) = links.last() {
                let message = "a route ends the statement: write `;`, and go on from one of its targets";
                return Err(input.error(message));
            }
            links.push(input.parse()?);
        }
        Ok(Self { first, links })
    }
}

impl Parse for Link {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(Token![=>]) {
            let arrow = input.parse::<Token![=>]>()?;
            let optional = input.parse::<Option<Token![?]>>()?.is_some();
            return Ok(Self { arrow: arrow.spans[0], way: Way::Join { to: input.parse()?, optional } });
        }
        if !input.peek(Token![->]) {
            return Err(input.error(mistakes::instead_of_arrow(input)));
        }
        let arrow = input.parse::<Token![->]>()?;
        let way = if input.peek(token::Brace) { route(input)? } else { Way::Edge(input.parse()?) };
        Ok(Self { arrow: arrow.spans[0], way })
    }
}

/// Reads `{ b | END }`, or `{ b | END } by decide`.
fn route(input: ParseStream<'_>) -> syn::Result<Way> {
    let inside;
    let brace = braced!(inside in input);
    let targets = Punctuated::<Single, Token![|]>::parse_terminated_with(&inside, |target| {
        if target.peek(token::Paren) {
            return Err(target.error("list every target by itself: `{ a | b }`"));
        }
        let single = target.parse()?;
        if !target.is_empty() && !target.peek(Token![|]) {
            return Err(target.error(mistakes::after_target(target)));
        }
        Ok(single)
    })?;
    if targets.is_empty() {
        let message = "a route needs targets: `{ a | END }`";
        return Err(syn::Error::new(brace.span.join(), message));
    }
    let mut by = None;
    if input.peek(Ident::peek_any) {
        let word = input.call(Ident::parse_any)?;
        if word != "by" {
            return Err(syn::Error::new(word.span(), "expected `by` and a function that decides, or `;`"));
        }
        by = Some(input.parse::<Expr>()?);
    }
    Ok(Way::Route { targets: targets.into_iter().collect(), by })
}

impl Parse for Place {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(token::Bracket) {
            return Err(input.error("several nodes stand in parentheses: `(a, b)`"));
        }
        if !input.peek(token::Paren) {
            return Ok(Self::One(input.parse()?));
        }
        let inside;
        let paren = parenthesized!(inside in input);
        let singles = Punctuated::<Single, Token![,]>::parse_terminated_with(&inside, |single| {
            let node = single.parse()?;
            if !single.is_empty() && !single.peek(Token![,]) {
                return Err(single.error(mistakes::after_member(single)));
            }
            Ok(node)
        })?;
        if singles.is_empty() {
            return Err(syn::Error::new(paren.span.join(), "expected nodes: `(a, b)`"));
        }
        Ok(Self::Several(singles.into_iter().collect(), paren.span.join()))
    }
}

impl Parse for Single {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(Token![&]) {
            return value(input).map(Self::Node);
        }
        if input.peek(syn::Lit) {
            return Err(input.error("a node is a function or `&value`, not its name"));
        }
        mistakes::not_a_path(input)?;
        let path: ExprPath = input.parse()?;
        mistakes::after_path(&path, input)?;
        if let Some(word) = path.path.get_ident() {
            if word == "START" {
                return Ok(Self::Start(word.span()));
            }
            if word == "END" {
                return Ok(Self::End(word.span()));
            }
        }
        let key = path.path.segments.last().map(|last| last.ident.unraw().to_string());
        Ok(Self::Node(Node { key: key.unwrap_or_default(), value: NodeValue::Path(path) }))
    }
}

/// Reads `&bot` or `&self.bot`.
fn value(input: ParseStream<'_>) -> syn::Result<Node> {
    let and = input.parse::<Token![&]>()?;
    let path: ExprPath = input.parse()?;
    let mut key = path.path.segments.last().map(|last| last.ident.unraw().to_string()).unwrap_or_default();
    let mut value = quote!(#and #path);
    while input.peek(Token![.]) {
        let dot = input.parse::<Token![.]>()?;
        let member = input.parse::<syn::Member>()?;
        key = member.to_token_stream().to_string();
        value.extend(quote!(#dot #member));
    }
    Ok(Node { key, value: NodeValue::Value(value) })
}
