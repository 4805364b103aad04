/// Returns `true` if JSON contains an integer that a `serde_json::Value` would turn into a float.
pub(super) fn holds_wide_number(json: &[u8]) -> bool {
    let (mut in_string, mut escaped) = (false, false);
    let mut number = Number::default();
    for &byte in json {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E' => number.push(byte),
            _ => {
                if std::mem::take(&mut number).is_wide() {
                    return true;
                }
                in_string = byte == b'"';
            }
        }
    }
    number.is_wide()
}

/// The state of a number that is read byte by byte.
#[derive(Default)]
struct Number {
    negative: bool,
    float: bool,
    wide: bool,
    value: u64,
}

impl Number {
    fn push(&mut self, byte: u8) {
        match byte {
            b'-' => self.negative = true,
            b'0'..=b'9' => {
                let digit = u64::from(byte - b'0');
                match self.value.checked_mul(10).and_then(|value| value.checked_add(digit)) {
                    Some(value) => self.value = value,
                    None => self.wide = true,
                }
            }
            _ => self.float = true,
        }
    }

    fn is_wide(&self) -> bool {
        let max = if self.negative { i64::MIN.unsigned_abs() } else { u64::MAX };
        !self.float && (self.wide || self.value > max)
    }
}

#[cfg(test)]
mod tests {
    use super::holds_wide_number;

    #[test]
    fn integers_of_more_than_64_bits_are_wide() {
        for json in [
            "18446744073709551616",
            "-9223372036854775809",
            "[1,340282366920938463463374607431768211455]",
            r#"{"a\"":{"b":-170141183460469231731687303715884105728}}"#,
        ] {
            assert!(holds_wide_number(json.as_bytes()), "{json}");
        }
        for json in [
            "18446744073709551615",
            "-9223372036854775808",
            "1e300",
            "100000000000000000000.0",
            r#""18446744073709551616""#,
            r#"{"\\":"340282366920938463463374607431768211455","18446744073709551616":[true,null]}"#,
        ] {
            assert!(!holds_wide_number(json.as_bytes()), "{json}");
        }
    }
}
