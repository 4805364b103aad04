use syn::LitStr;

/// The `rename_all` rules of serde for fields, whose names are snake_case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    Lower,
    Upper,
    Pascal,
    Camel,
    Snake,
    ScreamingSnake,
    Kebab,
    ScreamingKebab,
}

const CASES: [(&str, Case); 8] = [
    ("lowercase", Case::Lower),
    ("UPPERCASE", Case::Upper),
    ("PascalCase", Case::Pascal),
    ("camelCase", Case::Camel),
    ("snake_case", Case::Snake),
    ("SCREAMING_SNAKE_CASE", Case::ScreamingSnake),
    ("kebab-case", Case::Kebab),
    ("SCREAMING-KEBAB-CASE", Case::ScreamingKebab),
];

impl Case {
    /// Parses the name of a rule.
    pub(crate) fn named(name: &LitStr) -> syn::Result<Self> {
        let value = name.value();
        if let Some((_, case)) = CASES.iter().find(|(known, _)| *known == value) {
            return Ok(*case);
        }
        let known: Vec<_> = CASES.iter().map(|(name, _)| format!("`{name}`")).collect();
        Err(syn::Error::new(
            name.span(),
            format!("unknown case `{value}`: expected one of {}", known.join(", ")),
        ))
    }

    pub(crate) fn apply(self, field: &str) -> String {
        match self {
            Self::Lower | Self::Snake => field.to_owned(),
            Self::Upper | Self::ScreamingSnake => field.to_ascii_uppercase(),
            Self::Pascal => pascal(field),
            Self::Camel => {
                let pascal = pascal(field);
                let mut letters = pascal.chars();
                letters.next().map(|first| first.to_ascii_lowercase()).into_iter().chain(letters).collect()
            }
            Self::Kebab => field.replace('_', "-"),
            Self::ScreamingKebab => field.to_ascii_uppercase().replace('_', "-"),
        }
    }
}

fn pascal(field: &str) -> String {
    let mut start = true;
    let mut name = String::new();
    for letter in field.chars() {
        if letter == '_' {
            start = true;
        } else if std::mem::take(&mut start) {
            name.push(letter.to_ascii_uppercase());
        } else {
            name.push(letter);
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_renamed_as_by_serde() {
        for (case, expected) in [
            ("lowercase", "last_error"),
            ("UPPERCASE", "LAST_ERROR"),
            ("PascalCase", "LastError"),
            ("camelCase", "lastError"),
            ("snake_case", "last_error"),
            ("SCREAMING_SNAKE_CASE", "LAST_ERROR"),
            ("kebab-case", "last-error"),
            ("SCREAMING-KEBAB-CASE", "LAST-ERROR"),
        ] {
            let case = Case::named(&LitStr::new(case, proc_macro2::Span::call_site())).unwrap();
            assert_eq!(case.apply("last_error"), expected);
        }
    }
}
