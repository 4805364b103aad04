//! Rules on the values of fields: what `#[state(validate(..))]` calls.

use std::fmt;

/// A rule that a value breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// The field's name; `None` for the invariant of the whole state.
    pub field: Option<&'static str>,
    /// The rule as it is written in the attribute: `range(min = 0.0, max = 1.0)`.
    pub rule: &'static str,
    /// The value, as dumped JSON; `None` where the value must not leave the process.
    pub value: Option<String>,
    /// What the rule has to say; empty where its words might give the value away.
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

/// Collects what is broken.
#[derive(Clone, Debug, Default)]
pub struct Report {
    violations: Vec<(usize, Violation)>,
}

impl Report {
    #[doc(hidden)]
    pub fn __push(&mut self, index: usize, violation: Violation) {
        self.violations.push((index, violation));
    }

    /// Lets a flattened state report, whose fields begin at `offset`.
    #[doc(hidden)]
    pub fn __nested(&mut self, offset: usize, report: impl FnOnce(&mut Self)) {
        let mut nested = Self::default();
        report(&mut nested);
        self.violations.extend(nested.violations.into_iter().map(|(index, broken)| (offset + index, broken)));
    }

    /// Whether every rule holds.
    pub fn is_empty(&self) -> bool {
        self.violations.is_empty()
    }

    /// The broken rules with the index of the field, in the order in which they were checked.
    pub fn into_violations(self) -> Vec<(usize, Violation)> {
        self.violations
    }
}

/// Reports a rule if it is broken; the value is only shown then.
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

/// The same for an excluded field: neither its value nor the words of a rule that has seen it are in any error text.
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

/// Names the invariant that is broken.
#[doc(hidden)]
pub fn check_invariant<E: fmt::Display>(rule: &'static str, result: Result<(), E>) -> Result<(), Violation> {
    result.map_err(|error| Violation { field: None, rule, value: None, message: error.to_string() })
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
    fn a_broken_rule_names_field_rule_and_value() {
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
    fn a_broken_rule_of_an_excluded_field_says_no_more_than_the_rule() {
        check(
            |report| {
                check_excluded_rule(report, 0, "token", "custom(check)", Err("`hunter2` is weak".into()))
            },
            &["field `token` breaks `custom(check)`"],
        );
    }

    #[test]
    fn an_invariant_is_named() {
        assert_eq!(check_invariant("Ticket::check", Ok::<(), &str>(())), Ok(()));
        let broken = check_invariant("Ticket::check", Err("too many notes")).unwrap_err();
        assert_eq!(broken.to_string(), "the state breaks its invariant `Ticket::check`: too many notes");
    }
}
