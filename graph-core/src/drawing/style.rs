/// CSS declarations, limited to forms that every output format accepts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Style(Vec<(String, String)>);

/// The text colour on a default fill.
const DARK: &str = "#1f2933";

impl Style {
    /// Returns a fill and a line with readable text.
    pub(crate) fn of((fill, line): (&str, &str)) -> Self {
        let declarations = [("fill", fill), ("stroke", line), ("color", DARK)];
        Self(declarations.map(|(property, value)| (property.to_owned(), value.to_owned())).into())
    }

    /// Parses declarations such as `fill:pink;stroke-width:3`, separated by semicolons or, as in Mermaid, by commas. A
    /// value consists of words, numbers and colours: nothing that could end a declaration or fetch a file.
    pub(crate) fn parse(css: &str) -> Result<Self, String> {
        let declarations = css.split([';', ',']).map(str::trim).filter(|text| !text.is_empty());
        declarations.map(declaration).collect::<Result<_, _>>().map(Self)
    }

    /// Adds the declarations of `other`, which take precedence.
    pub(crate) fn and(mut self, other: &Self) -> Self {
        self.0.retain(|(property, _)| other.get(property).is_none());
        self.0.extend(other.0.iter().cloned());
        self
    }

    pub(crate) fn get(&self, property: &str) -> Option<&str> {
        self.iter().find(|(known, _)| *known == property).map(|(_, value)| value)
    }

    /// Returns the text colour, unless it is the default.
    pub(crate) fn text(&self) -> Option<&str> {
        self.get("color").filter(|color| *color != DARK)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(property, value)| (property.as_str(), value.as_str()))
    }
}

fn declaration(text: &str) -> Result<(String, String), String> {
    let wrong = || format!("`{text}` is not a `property:value` pair of letters, digits, `#`, `.` and `-`");
    let (property, value) = text.split_once(':').ok_or_else(wrong)?;
    let (property, value) = (property.trim(), value.trim());
    let named = !property.is_empty() && property.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '#' | '.' | '-' | ' ');
    if named && !value.is_empty() && value.chars().all(plain) {
        return Ok((property.to_owned(), value.to_owned()));
    }
    Err(wrong())
}
