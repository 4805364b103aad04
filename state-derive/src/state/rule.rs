//! The rules of `validate(..)`.

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::{Expr, Lit, LitStr, Path, UnOp};

use crate::attr::{Item, Problems, Slot, unknown};

/// One rule on a field's value.
pub(super) struct Rule {
    /// The rule's name, with its span.
    pub(super) key: Ident,
    pub(super) kind: RuleKind,
}

pub(super) enum RuleKind {
    /// The number of elements, or of characters.
    Length {
        min: Option<Expr>,
        max: Option<Expr>,
    },
    Range {
        min: Option<Expr>,
        max: Option<Expr>,
    },
    /// `ascii`, `alphanumeric`, `email`, `url`, `required`.
    Plain,
    /// `contains`, `prefix`, `suffix`.
    Text(Expr),
    Pattern(LitStr),
    /// Rules for each element.
    Inner(Vec<Rule>),
    Custom(Path),
}

pub(super) const RULES: [&str; 13] = [
    "length",
    "range",
    "ascii",
    "alphanumeric",
    "contains",
    "prefix",
    "suffix",
    "required",
    "email",
    "url",
    "pattern",
    "inner",
    "custom",
];

pub(super) fn is_rule(name: &str) -> bool {
    RULES.contains(&name)
}

pub(super) fn parse(rules: &mut Vec<Rule>, problems: &mut Problems, item: &Item<'_>) -> syn::Result<()> {
    let kind = match item.key.to_string().as_str() {
        "length" => length(problems, item)?,
        "range" => {
            let (min, max, _) = bounds(problems, item, &["min", "max"])?;
            RuleKind::Range { min, max }
        }
        "ascii" | "alphanumeric" | "email" | "url" | "required" => {
            item.flag()?;
            RuleKind::Plain
        }
        "contains" | "prefix" | "suffix" => RuleKind::Text(text(item)?),
        "pattern" => RuleKind::Pattern(item.argument("a regular expression in quotes")?),
        "inner" => {
            let mut inner = Vec::new();
            item.list(problems, |problems, item| parse(&mut inner, problems, item))?;
            RuleKind::Inner(inner)
        }
        "custom" => RuleKind::Custom(item.argument("the path of a function")?),
        bound @ ("min" | "max" | "equal") => {
            let message = format!(
                "`{bound}` is a bound of a rule: write `range({bound} = ..)` for numbers, or `length({bound} = ..)` for texts and lists"
            );
            return Err(syn::Error::new(
                item.key.span(),
                message.replace("`range(equal = ..)` for numbers, or ", ""),
            ));
        }
        _ => return Err(unknown(&item.key, "rule", &RULES)),
    };
    rules.push(Rule { key: item.key.clone(), kind });
    Ok(())
}

/// Parses a string literal, or any expression of type `&str`.
fn text(item: &Item<'_>) -> syn::Result<Expr> {
    let what = "a string";
    match item.argument(what)? {
        Expr::Lit(other) if !matches!(other.lit, Lit::Str(_)) => {
            Err(syn::Error::new_spanned(other, format!("`{}` takes {what}", item.key)))
        }
        text => Ok(text),
    }
}

fn length(problems: &mut Problems, item: &Item<'_>) -> syn::Result<RuleKind> {
    let (min, max, equal) = bounds(problems, item, &["min", "max", "equal"])?;
    Ok(match equal {
        Some(equal) if min.is_none() && max.is_none() => {
            RuleKind::Length { min: Some(equal.clone()), max: Some(equal) }
        }
        Some(equal) => {
            problems.at(equal, "`equal` cannot be combined with `min` or `max`");
            RuleKind::Length { min, max }
        }
        None => RuleKind::Length { min, max },
    })
}

type Bounds = (Option<Expr>, Option<Expr>, Option<Expr>);

fn bounds(problems: &mut Problems, item: &Item<'_>, known: &[&str]) -> syn::Result<Bounds> {
    let (mut min, mut max, mut equal) = (Slot::default(), Slot::default(), Slot::default());
    let mut empty = true;
    item.list(problems, |problems, bound| {
        empty = false;
        let slot = match bound.key.to_string().as_str() {
            "min" => &mut min,
            "max" => &mut max,
            "equal" if known.contains(&"equal") => &mut equal,
            _ => return Err(unknown(&bound.key, &format!("`{}` bound", item.key), known)),
        };
        slot.set(problems, &bound.key, bound.expr()?);
        Ok(())
    })?;
    if empty {
        let message = format!("`{0}` needs a bound: `{0}(min = ..)`, `{0}(max = ..)`", item.key);
        return Err(syn::Error::new(item.key.span(), message));
    }
    let (min, max) = (min.take(), max.take());
    if let (Some(least), Some(greatest)) = (&min, &max)
        && let (Some(from), Some(to)) = (literal(least), literal(greatest))
        && from > to
    {
        problems.at(greatest, "`max` is less than `min`, so no value is valid");
    }
    Ok((min, max, equal.take()))
}

/// Returns the value of a number that is written as a literal.
fn literal(number: &Expr) -> Option<f64> {
    match number {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(number) => number.base10_parse().ok(),
            Lit::Float(number) => number.base10_parse().ok(),
            _ => None,
        },
        Expr::Unary(negated) if matches!(negated.op, UnOp::Neg(_)) => Some(-literal(&negated.expr)?),
        _ => None,
    }
}

impl Rule {
    /// Returns the rule as errors quote it.
    pub(super) fn text(&self) -> String {
        let key = &self.key;
        match &self.kind {
            RuleKind::Length { min: Some(min), max: Some(max) } if source(min) == source(max) => {
                format!("{key}(equal = {})", source(min))
            }
            RuleKind::Length { min, max } | RuleKind::Range { min, max } => {
                let bound =
                    |name, value: &Option<Expr>| value.as_ref().map(|v| format!("{name} = {}", source(v)));
                let bounds: Vec<_> = bound("min", min).into_iter().chain(bound("max", max)).collect();
                format!("{key}({})", bounds.join(", "))
            }
            RuleKind::Plain => key.to_string(),
            RuleKind::Text(text) => format!("{key}({})", source(text)),
            RuleKind::Pattern(pattern) => format!("{key}({})", source(pattern)),
            RuleKind::Inner(rules) => {
                let rules: Vec<_> = rules.iter().map(Self::text).collect();
                format!("{key}({})", rules.join(", "))
            }
            RuleKind::Custom(path) => format!("{key}({})", source(path)),
        }
    }
}

/// Formats tokens as people write them.
pub(super) fn source(tokens: impl ToTokens) -> String {
    let tokens: TokenStream = tokens.to_token_stream();
    let mut text = tokens.to_string();
    for (spaced, tight) in
        [(" :: ", "::"), (":: ", "::"), (" < ", "<"), (" >", ">"), (" . ", "."), ("- ", "-"), (" (", "(")]
    {
        text = text.replace(spaced, tight);
    }
    text
}
