//! The code for rust-analyzer: the words of attributes, and signatures as it shows them.

use std::collections::BTreeSet;

use expect_test::{Expect, expect};
use quote::ToTokens;
use syn::{File, FnArg, ImplItem, Item, Pat, Stmt};

use crate::snapshot::pretty;
use crate::state::derive;

/// Compares the code that begins the expansion.
#[track_caller]
fn check(item: &str, expected: &Expect) {
    let words = words(item).map(|words| pretty(words.into_token_stream()));
    expected.assert_eq(&words.unwrap_or_default());
}

fn words(item: &str) -> Option<Item> {
    let file: File = syn::parse2(derive(item.parse().unwrap()).1).unwrap();
    file.items.into_iter().next().filter(|first| matches!(first, Item::Const(_)))
}

#[test]
fn words_are_names_of_items() {
    check(
        "#[state(rename_all = \"UPPERCASE\", invariant = check)] struct Ticket {
            #[state(input, validate(length(min = 1), inner(custom(word))))] field: T,
        }",
        &expect![[r#"
            #[doc(hidden)]
            #[allow(unexpected_cfgs)]
            const _: () = {
                #[cfg(rust_analyzer)]
                const _: () = {
                    {
                        use ::superstep::attributes::state::{rename_all, invariant};
                    }
                    {
                        use ::superstep::attributes::field::{input, validate};
                    }
                    {
                        use ::superstep::attributes::rule::{length, inner};
                    }
                    {
                        use ::superstep::attributes::bound::min;
                    }
                    {
                        use ::superstep::attributes::rule::custom;
                    }
                    {
                        let _ = (check);
                    }
                    {
                        let _ = (word);
                    }
                };
            };
        "#]],
    );
}

#[test]
fn values_stand_where_nothing_of_the_derive_is_in_scope() {
    check(
        "struct Ticket<T> {
            #[state(reducer = append)] a: T,
            #[state(reducer = path::fold)] b: T,
            #[state(reducer = path::Own)] c: T,
            #[state(default = T::make)] d: T,
            #[state(default = 3 + 4)] e: T,
        }",
        &expect![[r#"
            #[doc(hidden)]
            #[allow(unexpected_cfgs)]
            const _: () = {
                #[cfg(rust_analyzer)]
                const _: () = {
                    {
                        use ::superstep::attributes::field::reducer;
                    }
                    {
                        use ::superstep::attributes::field::reducer;
                    }
                    {
                        use ::superstep::attributes::field::reducer;
                    }
                    {
                        use ::superstep::attributes::field::default;
                    }
                    {
                        use ::superstep::attributes::field::default;
                    }
                    {
                        use ::superstep::attributes::reducer::*;
                        let _ = (append);
                    }
                    {
                        use ::superstep::attributes::reducer::*;
                        let _ = (path::fold);
                    }
                    {
                        let _: (path::Own);
                    }
                };
            };
        "#]],
    );
}

#[test]
fn plain_state_has_no_words() {
    check("struct Ticket { field: T }", &expect![[""]]);
    check(
        "#[state(crate = ::renamed)] struct Ticket { #[serde(default)] field: T }",
        &expect![[r#"
            #[doc(hidden)]
            #[allow(unexpected_cfgs)]
            const _: () = {
                #[cfg(rust_analyzer)]
                const _: () = {
                    {
                        use ::renamed::attributes::state::{};
                    }
                };
            };
        "#]],
    );
}

/// rust-analyzer completes a word at the place that it has in the expansion without the word.
#[test]
fn incomplete_word_changes_nothing_before_it() {
    for (before, after) in [
        ("#[state()] field: T", "#[state(@)] field: T"),
        ("#[state(inp)] field: T", "#[state(inp@)] field: T"),
        ("#[state(inptu, out)] field: T", "#[state(inptu, out@)] field: T"),
        ("#[state(reducer = )] field: T", "#[state(reducer = @)] field: T"),
        ("#[state(reducer = append)] field: T", "#[state(reducer = append@)] field: T"),
        ("#[state(validate())] field: T", "#[state(validate(@))] field: T"),
        ("#[state(validate(length(min = 1,)))] field: T", "#[state(validate(length(min = 1, @)))] field: T"),
    ] {
        let words = |field: &str| {
            let item = format!("struct Ticket {{ {field} }}").replace('@', "marker");
            words(&item).unwrap().into_token_stream().to_string().replace(' ', "")
        };
        let (before, after) = (words(before), words(after));
        let start = after.find("marker").unwrap();
        assert_eq!(before[..start], after[..start]);
    }
}

/// The words that are documented, by the module that has them.
fn documented(module: &str) -> BTreeSet<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../graph-core/src/attributes.rs");
    let file = syn::parse_file(&std::fs::read_to_string(path).unwrap()).unwrap();
    let found = file.items.into_iter().find_map(|item| match item {
        Item::Mod(item) if item.ident == module => item.content,
        _ => None,
    });
    let (_, items) = found.unwrap();
    let Some(Item::Macro(words)) = items.into_iter().next() else { panic!("{module} has no words") };
    let lines = words.mac.tokens.into_iter().filter_map(|token| match token {
        proc_macro2::TokenTree::Ident(word) => Some(word.to_string()),
        _ => None,
    });
    lines.collect()
}

#[test]
fn every_word_is_documented() {
    use crate::state::{attrs, built_in, rule};
    let set = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<BTreeSet<_>>();
    let mut on_struct = set(&attrs::ON_STRUCT);
    // A keyword is no name of an item.
    on_struct.remove("crate");
    assert_eq!(documented("state"), on_struct);
    assert_eq!(documented("field"), set(&attrs::ON_FIELD));
    assert_eq!(documented("rule"), set(&rule::RULES));
    let mut reducers: BTreeSet<_> = built_in::BUILT_IN.iter().map(|(name, _)| (*name).to_owned()).collect();
    reducers.insert("ephemeral".to_owned());
    assert_eq!(documented("reducer"), reducers);
    assert_eq!(documented("bound"), set(&["min", "max", "equal"]));
}

/// rust-analyzer shows generated methods and constants with their documentation, and without private paths and names of the
/// expansion.
#[test]
fn shown_signatures_name_nothing_private() {
    let item = "pub struct Ticket {
        #[state(input)] question: String,
        #[state(input, reducer = append)] notes: Vec<String>,
        #[state(reducer = add_messages)] messages: Option<Vec<Message>>,
        #[state(reducer = Own)] own: u32,
        #[state(reducer = fold, takes = u8)] folded: u64,
        #[state(flatten, input)] chat: Chat,
    }";
    let file: File = syn::parse2(derive(item.parse().unwrap()).1).unwrap();
    let mut seen = Vec::new();
    for statement in file.items.into_iter().flat_map(statements) {
        let Stmt::Item(Item::Impl(of)) = statement else { continue };
        if of.trait_.is_some() {
            continue;
        }
        for item in of.items {
            let (name, attrs, shown) = match item {
                ImplItem::Const(item) => (item.ident, item.attrs, item.ty.to_token_stream().to_string()),
                ImplItem::Fn(mut item) => {
                    item.sig.inputs = item.sig.inputs.into_iter().filter(is_shown).collect();
                    (item.sig.ident.clone(), item.attrs, item.sig.to_token_stream().to_string())
                }
                _ => continue,
            };
            assert!(attrs.iter().any(|attr| attr.path().is_ident("doc")), "`{name}` is not documented");
            // The type parameter tells an overwrite from an update.
            let shown = shown.replace("__M", "M");
            assert!(!shown.contains("__"), "`{name}` shows `{shown}`");
            seen.push(name.to_string());
        }
    }
    assert!(
        ["QUESTION", "update", "input", "folded", "chat"]
            .iter()
            .all(|name| seen.iter().any(|seen| seen == name))
    );
}

fn statements(item: Item) -> Vec<Stmt> {
    match item {
        Item::Const(item) => match *item.expr {
            syn::Expr::Block(block) => block.block.stmts,
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// Returns `false` for a parameter of the code that rustc compiles.
fn is_shown(argument: &FnArg) -> bool {
    let FnArg::Typed(argument) = argument else { return true };
    assert!(matches!(&*argument.pat, Pat::Ident(_)));
    !argument.attrs.iter().any(|attr| attr.to_token_stream().to_string().contains("not"))
}
