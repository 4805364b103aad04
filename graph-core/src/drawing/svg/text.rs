/// Estimates the width of a string at 13 pixels. No font is measured, so the estimate is generous.
pub(crate) fn width(text: &str) -> f64 {
    text.chars().map(letter).sum()
}

fn letter(letter: char) -> f64 {
    match letter {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '|' | '!' | '\'' => 4.2,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 11.6,
        'A'..='Z' => 9.2,
        // From here on: scripts with square letters, and emoji.
        '\u{1100}'.. => 13.5,
        _ => 7.6,
    }
}

/// Escapes a string for XML, which allows no control characters.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(' '),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            letter if letter.is_control() => out.push('\u{fffd}'),
            letter => out.push(letter),
        }
    }
    out
}
