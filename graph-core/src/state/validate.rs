//! Checks of the rules in `#[state(validate(..))]`, and the violations that they report.

use std::fmt;

use super::rules::RuleResult;

/// A value that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// The field's name; `None` for the invariant of the whole state.
    pub field: Option<&'static str>,
    /// The rule as written in the attribute: `range(min = 0.0, max = 1.0)`.
    pub rule: &'static str,
    /// The value as dumped JSON; `None` if the value must not leave the process.
    pub value: Option<String>,
    /// The message of the rule; empty if it could reveal the value of an excluded field.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.field {
            Some(field) => write!(f, "field `{field}` breaks `{}`", self.rule)?,
            None => write!(f, "the state breaks its invariant `{}`", self.rule)?,
        }
        if let Some(value) = &self.value {
            write!(f, " with {value}")?;
        }
        if self.message.is_empty() { Ok(()) } else { write!(f, ": {}", self.message) }
    }
}

/// A list of violations.
#[derive(Clone, Debug, Default)]
pub struct Report {
    violations: Vec<(usize, Violation)>,
}

impl Report {
    #[doc(hidden)]
    pub fn __push(&mut self, index: usize, violation: Violation) {
        self.violations.push((index, violation));
    }

    /// Adds the violations of a flattened state, whose fields begin at `offset`.
    #[doc(hidden)]
    pub fn __nested(&mut self, offset: usize, report: impl FnOnce(&mut Self)) {
        let mut nested = Self::default();
        report(&mut nested);
        self.violations.extend(nested.violations.into_iter().map(|(index, broken)| (offset + index, broken)));
    }

    /// Returns `true` if every rule holds.
    pub fn is_empty(&self) -> bool {
        self.violations.is_empty()
    }

    /// Returns the violations with the index of their field, in the order of the checks.
    pub fn into_violations(self) -> Vec<(usize, Violation)> {
        self.violations
    }
}

/// Reports a broken rule. The value is serialized only then.
#[doc(hidden)]
pub fn check_rule(
    report: &mut Report,
    index: usize,
    field: &'static str,
    rule: &'static str,
    result: Result<(), String>,
    shown: impl FnOnce() -> Option<String>,
) {
    if let Err(message) = result {
        report.__push(index, Violation { field: Some(field), rule, value: shown(), message });
    }
}

/// Like [`check_rule`] for an excluded field: no error text contains the value or the message of the rule.
#[doc(hidden)]
pub fn check_excluded_rule(
    report: &mut Report,
    index: usize,
    field: &'static str,
    rule: &'static str,
    result: Result<(), String>,
) {
    check_rule(report, index, field, rule, result.map_err(|_| String::new()), || None);
}

/// Converts the error of an invariant into a violation.
#[doc(hidden)]
pub fn check_invariant(rule: &'static str, result: impl RuleResult) -> Result<(), Violation> {
    result.into_result().map_err(|message| Violation { field: None, rule, value: None, message })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(write: impl FnOnce(&mut Report), expected: &[&str]) {
        let mut report = Report::default();
        write(&mut report);
        let texts: Vec<String> =
            report.into_violations().iter().map(|(_, broken)| broken.to_string()).collect();
        assert_eq!(texts, expected);
    }

    #[test]
    fn violation_names_field_rule_and_value() {
        check(
            |report| {
                check_rule(report, 0, "age", "range(max = 9)", Err("greater than 9".into()), || {
                    Some("12".into())
                })
            },
            &["field `age` breaks `range(max = 9)` with 12: greater than 9"],
        );
        check(|report| check_rule(report, 0, "age", "range(max = 9)", Ok(()), || None), &[]);
    }

    #[test]
    fn violation_of_an_excluded_field_names_only_the_rule() {
        check(
            |report| {
                check_excluded_rule(report, 0, "token", "custom(check)", Err("`hunter2` is weak".into()))
            },
            &["field `token` breaks `custom(check)`"],
        );
    }

    #[test]
    fn broken_invariant_is_named() {
        assert_eq!(check_invariant("Ticket::check", Ok::<(), &str>(())), Ok(()));
        let broken = check_invariant("Ticket::check", Err("too many notes")).unwrap_err();
        assert_eq!(broken.to_string(), "the state breaks its invariant `Ticket::check`: too many notes");
    }
}
