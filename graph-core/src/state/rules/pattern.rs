#[cfg(feature = "pattern")]
use super::text::{Text, each};

/// A regular expression that is compiled once, at its first use; the derive puts one into a `static` for each rule.
#[derive(Debug)]
pub struct Pattern {
    source: &'static str,
    #[cfg(feature = "pattern")]
    compiled: std::sync::OnceLock<Result<regex::Regex, String>>,
}

impl Pattern {
    /// The expression `source`.
    pub const fn new(source: &'static str) -> Self {
        Self {
            source,
            #[cfg(feature = "pattern")]
            compiled: std::sync::OnceLock::new(),
        }
    }

    /// The expression as it was written.
    pub fn as_str(&self) -> &'static str {
        self.source
    }
}

/// The expression matches somewhere in the text.
///
/// # Errors
/// It does not match, or it is no regular expression.
#[cfg(feature = "pattern")]
pub fn pattern<T: Text + ?Sized>(value: &T, pattern: &Pattern) -> Result<(), String> {
    let compile = || regex::Regex::new(pattern.source).map_err(|error| error.to_string());
    match pattern.compiled.get_or_init(compile) {
        Ok(regex) => each(value, |text| garde::rules::pattern::apply(text, (regex,))),
        Err(error) => Err(format!("the pattern itself is wrong: {error}")),
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
    fn a_match_anywhere_keeps_the_rule() {
        check("größe 12", r"\d+", Ok(()));
        check("größe", r"^\w+$", Ok(()));
        check("a b", r"^\w+$", Err(r"does not match pattern /^\w+$/"));
        check(&None::<String>, "x", Ok(()));
    }

    #[test]
    fn a_wrong_expression_is_said_to_be_wrong() {
        let error = pattern("a", &Pattern::new("(")).unwrap_err();
        assert!(error.starts_with("the pattern itself is wrong: regex parse error"), "{error}");
    }
}
