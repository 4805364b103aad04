#[cfg(feature = "pattern")]
use super::text::{Text, each};

/// A regular expression that is compiled once, at its first use. The derive generates a `static` for each rule.
#[derive(Debug)]
pub struct Pattern {
    source: &'static str,
    #[cfg(feature = "pattern")]
    compiled: std::sync::OnceLock<Result<regex::Regex, String>>,
}

impl Pattern {
    /// Creates a pattern from a regular expression.
    pub const fn new(source: &'static str) -> Self {
        Self {
            source,
            #[cfg(feature = "pattern")]
            compiled: std::sync::OnceLock::new(),
        }
    }

    /// Returns the source of the expression.
    pub fn as_str(&self) -> &'static str {
        self.source
    }
}

/// Checks that the expression matches somewhere in the string.
///
/// # Errors
/// It does not match, or it is not a valid regular expression.
#[cfg(feature = "pattern")]
pub fn pattern<T: Text + ?Sized>(value: &T, pattern: &Pattern) -> Result<(), String> {
    let compile = || regex::Regex::new(pattern.source).map_err(|error| error.to_string());
    match pattern.compiled.get_or_init(compile) {
        Ok(regex) => each(value, |text| garde::rules::pattern::apply(text, (regex,))),
        Err(error) => Err(format!("the pattern is not a valid regular expression: {error}")),
    }
}

#[cfg(all(test, feature = "pattern"))]
mod tests {
    use super::*;

    #[track_caller]
    fn check<T: Text + ?Sized>(value: &T, expression: &'static str, expected: Result<(), &str>) {
        assert_eq!(pattern(value, &Pattern::new(expression)), expected.map_err(str::to_owned));
    }

    #[test]
    fn match_anywhere_passes_the_rule() {
        check("größe 12", r"\d+", Ok(()));
        check("größe", r"^\w+$", Ok(()));
        check("a b", r"^\w+$", Err(r"does not match pattern /^\w+$/"));
        check(&None::<String>, "x", Ok(()));
    }

    #[test]
    fn invalid_expression_is_reported() {
        let error = pattern("a", &Pattern::new("(")).unwrap_err();
        assert!(
            error.starts_with("the pattern is not a valid regular expression: regex parse error"),
            "{error}"
        );
    }
}
