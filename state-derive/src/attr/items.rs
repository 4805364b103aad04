use proc_macro2::{Span, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, Ident, LitInt, LitStr, Meta, Path, Token, Type, WherePredicate};

use super::Problems;

/// One `key`, `key = value` or `key(..)` of an attribute's list.
pub(crate) struct Item<'a> {
    /// The key; may be a keyword such as `crate`.
    pub(crate) key: Ident,
    input: ParseStream<'a>,
}

impl Item<'_> {
    /// `key`, alone.
    pub(crate) fn flag(&self) -> syn::Result<Span> {
        if self.input.is_empty() || self.input.peek(Token![,]) {
            return Ok(self.key.span());
        }
        if self.input.peek(Ident::peek_any) {
            return Err(self.input.error(format!("expected `,` after `{}`", self.key)));
        }
        Err(self.input.error(format!("`{}` takes no value", self.key)))
    }

    /// `key = "text"`.
    pub(crate) fn string(&self) -> syn::Result<LitStr> {
        self.value("a string: `", " = \"..\"`")
    }

    /// `key = 1`.
    pub(crate) fn number(&self) -> syn::Result<LitInt> {
        self.value("a whole number: `", " = 1`")
    }

    /// `key = some::path`.
    pub(crate) fn path(&self) -> syn::Result<Path> {
        if self.input.peek(Token![=]) && self.input.peek2(LitStr) {
            self.input.parse::<Token![=]>()?;
            let quoted = self.input.parse::<LitStr>()?;
            let (key, path) = (&self.key, quoted.value());
            return Err(syn::Error::new(
                quoted.span(),
                format!("`{key}` takes a path: `{key} = {path}`, without quotes"),
            ));
        }
        self.value("a path: `", " = some::path`")
    }

    /// `key = "some::path"`, as serde writes it.
    pub(crate) fn quoted_path(&self) -> syn::Result<Path> {
        self.value::<LitStr>("a path in quotes: `", " = \"some::path\"`")?.parse()
    }

    /// `key = Type`.
    pub(crate) fn ty(&self) -> syn::Result<Type> {
        self.value("a type: `", " = Type`")
    }

    /// `key = expression`.
    pub(crate) fn expr(&self) -> syn::Result<Expr> {
        self.value("an expression: `", " = value`")
    }

    /// Returns `true` if `= value` follows.
    pub(crate) fn has_value(&self) -> bool {
        self.input.peek(Token![=])
    }

    /// Returns `true` if `(..)` follows.
    pub(crate) fn has_list(&self) -> bool {
        self.input.peek(syn::token::Paren)
    }

    /// Parses `key(item, ..)` and passes each item to `read`. Continues after broken items.
    pub(crate) fn list(
        &self,
        problems: &mut Problems,
        read: impl FnMut(&mut Problems, &Item<'_>) -> syn::Result<()>,
    ) -> syn::Result<()> {
        if !self.has_list() {
            return Err(self.wrong(format!("`{0}` takes a list: `{0}(..)`", self.key)));
        }
        let content;
        syn::parenthesized!(content in self.input);
        walk(&content, problems, read);
        Ok(())
    }

    /// `key(value)`.
    pub(crate) fn argument<T: Parse>(&self, what: &str) -> syn::Result<T> {
        if !self.has_list() {
            return Err(self.wrong(format!("`{0}` takes {what}: `{0}(..)`", self.key)));
        }
        let content;
        let paren = syn::parenthesized!(content in self.input);
        let wrong = |span| syn::Error::new(span, format!("`{}` takes {what}", self.key));
        if content.is_empty() {
            return Err(wrong(paren.span.join()));
        }
        let at = content.span();
        let value = content.parse().map_err(|_| {
            // Reads the rest: a parse buffer that is dropped too early adds its own error.
            drop(content.parse::<proc_macro2::TokenStream>());
            wrong(at)
        })?;
        if !content.is_empty() {
            let at = content.span();
            drop(content.parse::<proc_macro2::TokenStream>());
            return Err(wrong(at));
        }
        Ok(value)
    }

    /// `key(T: Bound, ..)`; the list may be empty.
    pub(crate) fn predicates(&self) -> syn::Result<Vec<WherePredicate>> {
        let what = format!("`{0}` takes bounds: `{0}(T: Trait)`", self.key);
        if !self.has_list() {
            return Err(self.wrong(what));
        }
        let content;
        syn::parenthesized!(content in self.input);
        let at = content.span();
        let predicates = content.call(Punctuated::<_, Token![,]>::parse_terminated).map_err(|_| {
            drop(content.parse::<proc_macro2::TokenStream>());
            syn::Error::new(at, what)
        })?;
        Ok(predicates.into_iter().collect())
    }

    fn value<T: Parse>(&self, before: &str, after: &str) -> syn::Result<T> {
        let message = format!("`{0}` takes {before}{0}{after}", self.key);
        if !self.input.peek(Token![=]) {
            return Err(self.wrong(message));
        }
        self.input.parse::<Token![=]>()?;
        let at = self.input.span();
        if self.input.fork().parse::<T>().is_ok() {
            return self.input.parse();
        }
        // A closure contains commas, which are no end of the item.
        drop(self.input.parse::<Expr>());
        Err(syn::Error::new(at, message))
    }

    /// Returns an error at the token after the key, or at the key if none follows.
    fn wrong(&self, message: String) -> syn::Error {
        let nothing = self.input.is_empty() || self.input.peek(Token![,]);
        let at = if nothing { self.key.span() } else { self.input.span() };
        syn::Error::new(at, message)
    }
}

/// Reads every item of every attribute called `name`.
pub(crate) fn items(
    attrs: &[Attribute],
    name: &str,
    problems: &mut Problems,
    mut read: impl FnMut(&mut Problems, &Item<'_>) -> syn::Result<()>,
) {
    for attr in attrs.iter().filter(|attr| attr.path().is_ident(name)) {
        match &attr.meta {
            Meta::List(_) => {
                let parsed = attr.parse_args_with(|input: ParseStream<'_>| {
                    walk(input, problems, &mut read);
                    Ok(())
                });
                problems.ok(parsed);
            }
            other => problems.at(other, format!("write `#[{name}(..)]`")),
        }
    }
}

/// Reads every item of a list.
pub(crate) fn walk(
    input: ParseStream<'_>,
    problems: &mut Problems,
    mut read: impl FnMut(&mut Problems, &Item<'_>) -> syn::Result<()>,
) {
    while !input.is_empty() {
        let item = input.call(Ident::parse_any).map(|key| Item { key, input });
        if let Err(error) = item.and_then(|item| read(problems, &item)) {
            problems.push(error);
        } else if !input.is_empty() && !input.peek(Token![,]) {
            problems.push(input.error("expected `,`"));
        }
        skip_past_comma(input);
    }
}

fn skip_past_comma(input: ParseStream<'_>) {
    while let Ok(token) = input.parse::<TokenTree>() {
        if matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',') {
            break;
        }
    }
}
