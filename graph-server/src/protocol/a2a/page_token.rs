use sha2::{Digest as _, Sha256};

use crate::protocol::{RunId, Timestamp};

/// The place where the next page of a list of tasks begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PageToken {
    /// The moment of the first page.
    pub(crate) moment: Timestamp,
    /// The last place that was read.
    pub(crate) last: (Timestamp, RunId),
    /// The number of tasks on the pages so far.
    pub(crate) count: usize,
}

/// The digits of each part: two times, a run, a number, and the digest.
const DIGITS: [usize; 5] = [16, 16, 32, 16, 16];

impl PageToken {
    /// Writes the token for pages of this list.
    pub(crate) fn write(&self, list: &str) -> String {
        let (since, run) = self.last;
        let times = (self.moment.micros(), since.micros());
        let text = format!("{:016x}{:016x}{}{:016x}", times.0, times.1, run.0.simple(), self.count);
        format!("{text}{}", digest(&text, list))
    }

    /// Reads a token. `None` if it is not one of this list.
    pub(crate) fn read(text: &str, list: &str) -> Option<Self> {
        if !text.is_ascii() || text.len() != DIGITS.iter().sum::<usize>() {
            return None;
        }
        let mut rest = text;
        let [moment, since, run, count, check] = DIGITS.map(|digits| {
            let (part, others) = rest.split_at(digits);
            rest = others;
            part
        });
        if digest(text.strip_suffix(check)?, list) != check {
            return None;
        }
        let number = |part| u64::from_str_radix(part, 16).ok();
        let time = |part| number(part).and_then(Timestamp::from_micros);
        let count = usize::try_from(number(count)?).ok()?;
        Some(Self { moment: time(moment)?, last: (time(since)?, RunId::parse(run)?), count })
    }
}

/// It finds mistakes of clients. It is no secret: a token gives access to nothing.
fn digest(text: &str, list: &str) -> String {
    let digest = Sha256::digest(format!("{text} {list}"));
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_is_read_back_for_its_list_only() {
        let time = |micros| Timestamp::from_micros(micros).unwrap();
        let token = PageToken { moment: time(9_000_000), last: (time(8_999_999), RunId::new()), count: 70 };
        let text = token.write("a list");
        assert_eq!(PageToken::read(&text, "a list"), Some(token));
        assert_eq!(PageToken::read(&text, "another list"), None);
        let changed = text.replacen("0", "1", 1);
        for wrong in ["", "50", &text[1..], &changed, &"f".repeat(text.len()), &"é".repeat(text.len() / 2)] {
            assert_eq!(PageToken::read(wrong, "a list"), None, "{wrong}");
        }
    }
}
