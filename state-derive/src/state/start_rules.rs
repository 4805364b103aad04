//! Start values that break the rules of their own field, as far as literals show it.

use syn::{Expr, Lit, UnOp};

use crate::attr::Problems;

use super::model::{Start, State};
use super::rule::RuleKind;

/// Reports literals that break a rule. `compile()` reports other start values.
pub(super) fn check(state: &State, problems: &mut Problems) {
    for field in state.fields() {
        let Start::Expr(start) = &field.start else { continue };
        for rule in &field.rules {
            let (measured, min, max) = match &rule.kind {
                RuleKind::Range { min, max } => (number(start), min, max),
                RuleKind::Length { min, max } => (length(start), min, max),
                _ => continue,
            };
            let Some(measured) = measured else { continue };
            let below = min.as_ref().and_then(number).is_some_and(|min| measured < min);
            let above = max.as_ref().and_then(number).is_some_and(|max| measured > max);
            if below || above {
                let rule = rule.text();
                problems
                    .at(start, format!("this start value breaks `{rule}`: choose one that keeps the rule"));
            }
        }
    }
}

fn number(expr: &Expr) -> Option<f64> {
    match expr {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(int) => int.base10_digits().parse().ok(),
            Lit::Float(float) => float.base10_digits().parse().ok(),
            _ => None,
        },
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => number(&unary.expr).map(|value| -value),
        Expr::Group(group) => number(&group.expr),
        Expr::Paren(paren) => number(&paren.expr),
        _ => None,
    }
}

/// Returns the number of characters of a literal, also in `"..".into()` and the like.
fn length(expr: &Expr) -> Option<f64> {
    match expr {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(text) => u32::try_from(text.value().chars().count()).ok().map(f64::from),
            _ => None,
        },
        Expr::MethodCall(call)
            if call.method == "into" || call.method == "to_owned" || call.method == "to_string" =>
        {
            length(&call.receiver)
        }
        Expr::Group(group) => length(&group.expr),
        _ => None,
    }
}
