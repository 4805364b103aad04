/// Declarations of CSS, of the kind that every form of a picture can take.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Style(Vec<(String, String)>);

/// Text on a fill of ours.
const DARK: &str = "#1f2933";

impl Style {
    /// A fill and a line, with text that can be read on it.
    pub(super) fn of((fill, line): (&str, &str)) -> Self {
        let said = [("fill", fill), ("stroke", line), ("color", DARK)];
        Self(said.map(|(property, value)| (property.to_owned(), value.to_owned())).into())
    }

    /// Reads `fill:pink;stroke-width:3`, with semicolons or, as Mermaid has it, with commas. A value is words, numbers and
    /// colours: nothing that ends a declaration of any form, or fetches a file.
    pub(super) fn parse(css: &str) -> Result<Self, String> {
        let declarations = css.split([';', ',']).map(str::trim).filter(|said| !said.is_empty());
        declarations.map(declaration).collect::<Result<_, _>>().map(Self)
    }

    /// The same, where `other` does not say otherwise.
    pub(super) fn and(mut self, other: &Self) -> Self {
        self.0.retain(|(property, _)| other.get(property).is_none());
        self.0.extend(other.0.iter().cloned());
        self
    }

    pub(super) fn get(&self, property: &str) -> Option<&str> {
        self.iter().find(|(known, _)| *known == property).map(|(_, value)| value)
    }

    /// What text is to be drawn in, where it is not the usual colour.
    pub(super) fn text(&self) -> Option<&str> {
        self.get("color").filter(|color| *color != DARK)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(property, value)| (property.as_str(), value.as_str()))
    }
}

fn declaration(said: &str) -> Result<(String, String), String> {
    let wrong = || format!("`{said}` is no `property:value` of letters, digits, `#`, `.` and `-`");
    let (property, value) = said.split_once(':').ok_or_else(wrong)?;
    let (property, value) = (property.trim(), value.trim());
    let named = !property.is_empty() && property.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '#' | '.' | '-' | ' ');
    if named && !value.is_empty() && value.chars().all(plain) {
        return Ok((property.to_owned(), value.to_owned()));
    }
    Err(wrong())
}
