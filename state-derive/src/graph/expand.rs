use std::collections::HashSet;

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::{ToTokens as _, format_ident, quote, quote_spanned};
use syn::{Expr, ExprPath, Path, parse_quote};

use crate::attr::ends;

use super::check::Checked;
use super::model::{Node, NodeValue, Place, Single, Statement, Text, Way};
use super::together::{Together, groups, is_generic};

/// ```text
/// {
///     use superstep as __superstep;
///     const _: () = by_edges(&known(draft), "draft");
///     const _: () = by_route(&known(review), "review", &["draft", "END"], false);
///     const _: () = leads_to(&known(review), "review", "draft");
///     const __TOGETHER_0: &[Writer] = &[Writer::of(&known(send), "send"), Writer::of(&known(log), "log")];
///     const _: () = together(__TOGETHER_0, 1, &[]);
///     StateGraph::<Ticket>::new().edge(START, known(draft)).edge(known(draft), known(review)).node(known(review))
/// }
/// ```
///
/// With a mistake in the topology, no calls follow, which might report it again. The checks do, but for the unchecked nodes.
pub(crate) fn expand(text: &Text, mistakes: Option<syn::Error>, checked: &Checked<'_>) -> TokenStream {
    // An alias, because a path through `$crate` cannot be underlined like a token of the text.
    let (path, krate): (_, Path) = (&text.krate, parse_quote!(__superstep));
    let g = Checks(quote!(#krate::graph::text));
    let state = &text.state;
    let mistakes = mistakes.map(syn::Error::into_compile_error);
    let new = match &text.context {
        None => quote!(new()),
        Some(context) => quote!(with_context::<#context>()),
    };
    let mut expansion = Expansion {
        g: &g,
        krate: &krate,
        calls: Vec::new(),
        checks: Vec::new(),
        on_edges: HashSet::new(),
        checked,
    };
    for statement in &text.statements {
        expansion.statement(statement);
    }
    for deferred in text.deferred.iter().flat_map(Place::singles) {
        let node = expand_single(deferred, &g, &krate);
        expansion.calls.push(quote!(.defer(#node)));
    }
    let Expansion { mut calls, mut checks, .. } = expansion;
    if mistakes.is_some() {
        calls.clear();
    } else {
        let groups = groups(text).into_iter().enumerate();
        checks.extend(groups.flat_map(|(number, group)| check_together(number, &group, &g)));
    }
    let (first, last) = ends(state);
    let (graph, new) = (at(first, quote!(#krate::StateGraph)), at(last, new));
    let graph = quote!(#graph::<#state>::#new);
    quote! {{
        use #path as #krate;
        #mistakes
        #(#checks)*
        #graph #(#calls)*
    }}
}

struct Expansion<'t> {
    g: &'t Checks,
    krate: &'t Path,
    calls: Vec<TokenStream>,
    checks: Vec<TokenStream>,
    /// The nodes that are checked for edges: one check is enough, wherever they are left.
    on_edges: HashSet<&'t str>,
    checked: &'t Checked<'t>,
}

impl<'t> Expansion<'t> {
    fn statement(&mut self, statement: &'t Statement) {
        let (g, krate) = (self.g, self.krate);
        let mut from = &statement.first;
        if statement.links.is_empty() {
            let node = expand_place(from, g, krate);
            self.calls.push(quote!(.node(#node)));
        }
        for link in &statement.links {
            let source = expand_place(from, g, krate);
            match &link.way {
                Way::Edge(to) => {
                    let target = expand_place(to, g, krate);
                    self.calls.push(quote!(.edge(#source, #target)));
                    self.check_edges(from);
                    from = to;
                }
                Way::Join { to, optional } => {
                    let target = expand_place(to, g, krate);
                    let join = if *optional { quote!(join_optional) } else { quote!(join) };
                    self.calls.push(quote!(.#join(#source, #target)));
                    self.check_edges(from);
                    from = to;
                }
                Way::Route { targets, by: None } => {
                    self.calls.push(quote!(.node(#source)));
                    let checked = self.checked;
                    let checks =
                        self.paths(from).flat_map(|(key, path)| check_route(key, path, targets, checked, g));
                    self.checks.extend(checks);
                }
                Way::Route { targets, by: Some(decide) } => {
                    let decided = expand_decided(decide, g);
                    self.calls.push(quote!(.route(#source, #decided)));
                    let nodes = self.paths(from);
                    self.checks
                        .extend(nodes.map(|(key, path)| check_node(quote!(before_function), key, path, g)));
                    if let Expr::Path(path) = decide {
                        self.checks.extend(check_decided(path, targets, g));
                    }
                }
            }
        }
    }

    /// The nodes to check: those that are paths. The types of values are unknown to a constant.
    fn paths(&self, place: &'t Place) -> impl Iterator<Item = (&'t str, &'t ExprPath)> + use<'t> {
        let unchecked = &self.checked.unchecked;
        place.singles().iter().filter_map(|single| match single {
            Single::Node(Node { key, value: NodeValue::Path(path) }) if !unchecked.contains(key.as_str()) => {
                Some((key.as_str(), path))
            }
            _ => None,
        })
    }

    fn check_edges(&mut self, from: &'t Place) {
        for (key, path) in self.paths(from) {
            if self.on_edges.insert(key) {
                self.checks.push(check_node(quote!(by_edges), key, path, self.g));
            }
        }
    }
}

fn expand_place(place: &Place, g: &Checks, krate: &Path) -> TokenStream {
    match place {
        Place::One(single) => expand_single(single, g, krate),
        Place::Several(singles, span) => {
            let singles = singles.iter().map(|single| expand_single(single, g, krate));
            quote_spanned!(*span=> (#(#singles,)*))
        }
    }
}

fn expand_single(single: &Single, g: &Checks, krate: &Path) -> TokenStream {
    match single {
        Single::Start(span) => at(*span, quote!(#krate::START)),
        Single::End(span) => at(*span, quote!(#krate::END)),
        Single::Node(Node { value: NodeValue::Path(path), .. }) => expand_known(path, g),
        Single::Node(Node { value: NodeValue::Value(value), .. }) => value.clone(),
    }
}

/// `known(draft).node`, underlined like `draft`.
fn expand_known(path: &ExprPath, g: &Checks) -> TokenStream {
    let (node, field) = (g.known(path), quote_spanned!(ends(path).1=> .node));
    quote!(#node #field)
}

/// `decided(choose).decide`, underlined like `choose`.
fn expand_decided(decide: &Expr, g: &Checks) -> TokenStream {
    let (decided, field) = (g.decided(decide), quote_spanned!(ends(decide).1=> .decide));
    quote!(#decided #field)
}

/// The path of the functions that check the text.
struct Checks(TokenStream);

impl Checks {
    fn known(&self, path: &ExprPath) -> TokenStream {
        self.call(quote!(known), path.to_token_stream(), ends(path))
    }

    fn decided(&self, decide: &Expr) -> TokenStream {
        self.call(quote!(decided), decide.to_token_stream(), ends(decide))
    }

    /// The fields that a node can write. A node without a path is unknown to a constant.
    fn writer(&self, node: Option<&(&str, &ExprPath)>) -> TokenStream {
        let g = &self.0;
        let Some((key, path)) = node else { return quote!(#g::Writer::UNKNOWN) };
        let known = referred(self.known(path), path);
        self.call(quote!(Writer::of), quote!(#known, #key), ends(path))
    }

    /// Calls one of the functions. rustc underlines the call like the tokens from `first` to `last`.
    fn call(
        &self,
        function: TokenStream,
        arguments: TokenStream,
        (first, last): (Span, Span),
    ) -> TokenStream {
        let path = &self.0;
        let function = at(first, quote!(#path::#function));
        let mut group = Group::new(Delimiter::Parenthesis, arguments);
        group.set_span(last);
        quote!(#function #group)
    }
}

fn check_node(check: TokenStream, key: &str, path: &ExprPath, g: &Checks) -> TokenStream {
    let known = referred(g.known(path), path);
    constant(path, check, &quote!(#known, #key), g)
}

fn check_route(
    key: &str,
    path: &ExprPath,
    targets: &[Single],
    checked: &Checked<'_>,
    g: &Checks,
) -> Vec<TokenStream> {
    let known = referred(g.known(path), path);
    let written = Written::of(targets);
    let (names, with_values) = (&written.names, written.with_values);
    let complete = constant(path, quote!(by_route), &quote!(#known, #key, &[#(#names),*], #with_values), g);
    let each = targets.iter().filter_map(|target| {
        let (name, span) = written_name(target)?;
        let is_unleft = checked.unleft.contains(name.as_str());
        let check = if is_unleft { quote!(leads_to_unleft) } else { quote!(leads_to) };
        Some(constant_at(path, span, check, &quote!(#known, #key, #name), g))
    });
    std::iter::once(complete).chain(each).collect()
}

/// `const __TOGETHER_0: &[Writer] = &[Writer::of(&known(a), "a"), Writer::of(&known(b), "b")];`
/// `const __BESIDE_0: &[Writer] = &[];`
/// `const _: () = together(__TOGETHER_0, 1, __BESIDE_0);`, underlined like `b`
fn check_together(number: usize, group: &Together<'_>, g: &Checks) -> Vec<TokenStream> {
    let (members, beside) = (format_ident!("__TOGETHER_{number}"), format_ident!("__BESIDE_{number}"));
    let (text, writer) = (&g.0, |node: &Option<(&str, &ExprPath)>| g.writer(node.as_ref()));
    let writers = group.members.iter().copied().map(Some).map(|node| writer(&node));
    let others = group.beside.iter().map(writer);
    let lists = quote! {
        const #members: &[#text::Writer] = &[#(#writers),*];
        const #beside: &[#text::Writer] = &[#(#others),*];
    };
    let each = group
        .members
        .iter()
        .enumerate()
        .skip(1)
        .map(|(nth, (_, path))| constant(path, quote!(together), &quote!(#members, #nth, #beside), g));
    std::iter::once(lists).chain(each).collect()
}

fn check_decided(path: &ExprPath, targets: &[Single], g: &Checks) -> Vec<TokenStream> {
    let decided = referred(g.decided(&Expr::Path(path.clone())), path);
    let key = path.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
    let written = Written::of(targets);
    let (names, with_values) = (&written.names, written.with_values);
    let complete =
        constant(path, quote!(by_function), &quote!(#decided, #key, &[#(#names),*], #with_values), g);
    let each = targets.iter().filter_map(|target| {
        let (name, span) = written_name(target)?;
        Some(constant_at(path, span, quote!(function_leads_to), &quote!(#decided, #key, #name), g))
    });
    std::iter::once(complete).chain(each).collect()
}

/// `&known(draft)`, underlined like `draft`.
fn referred(value: TokenStream, path: &ExprPath) -> TokenStream {
    quote_spanned!(ends(path).0=> &#value)
}

struct Written {
    names: Vec<String>,
    with_values: bool,
}

impl Written {
    fn of(targets: &[Single]) -> Self {
        let names = targets.iter().filter_map(|target| Some(written_name(target)?.0)).collect();
        let is_value =
            |target: &Single| matches!(target, Single::Node(Node { value: NodeValue::Value(_), .. }));
        Self { names, with_values: targets.iter().any(is_value) }
    }
}

/// The name of a target in the text, unless it is a value.
fn written_name(target: &Single) -> Option<(String, (Span, Span))> {
    match target {
        Single::End(span) => Some(("END".to_owned(), (*span, *span))),
        Single::Node(Node { key, value: NodeValue::Path(path) }) => Some((key.clone(), ends(path))),
        Single::Node(_) | Single::Start(_) => None,
    }
}

fn constant(subject: &ExprPath, check: TokenStream, arguments: &TokenStream, g: &Checks) -> TokenStream {
    constant_at(subject, ends(subject), check, arguments, g)
}

/// `const _: () = by_edges(&known(draft), "draft");`, underlined like a token of the text.
///
/// A path with generic arguments may use those of the function around it, which a constant item cannot.
fn constant_at(
    subject: &ExprPath,
    span: (Span, Span),
    check: TokenStream,
    arguments: &TokenStream,
    g: &Checks,
) -> TokenStream {
    let call = g.call(check, arguments.clone(), span);
    if is_generic(subject) { quote!(const { #call };) } else { quote!(const _: () = #call;) }
}

/// Sets the span of every token.
fn at(span: Span, tokens: TokenStream) -> TokenStream {
    let set = |mut token: TokenTree| {
        token.set_span(span);
        token
    };
    tokens.into_iter().map(set).collect()
}
