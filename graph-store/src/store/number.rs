use std::cmp::Ordering;

/// A JSON number. Comparison is exact: `1` equals `1.0`, and no digit is lost.
#[derive(Clone, Copy, Debug)]
pub(super) enum Number {
    /// An integer that fits into an `i128`.
    Whole(i128),
    /// A larger integer.
    Large(u128),
    /// Any other number. Never NaN.
    Float(f64),
}

const TWO_POW_127: f64 = 170_141_183_460_469_231_731_687_303_715_884_105_728.0;
const TWO_POW_128: f64 = 2.0 * TWO_POW_127;

impl Number {
    /// Reads a JSON number.
    pub(super) fn read(text: &str) -> Option<Self> {
        let whole = text.parse().map(Self::Whole).ok();
        let whole = whole.or_else(|| text.parse().map(Self::Large).ok());
        whole.or_else(|| text.parse().ok().filter(|float: &f64| !float.is_nan()).map(Self::Float))
    }

    pub(super) fn compare(self, other: Self) -> Ordering {
        use Number::{Float, Large, Whole};
        match (self, other) {
            (Whole(a), Whole(b)) => a.cmp(&b),
            (Large(a), Large(b)) => a.cmp(&b),
            (Whole(_), Large(_)) => Ordering::Less,
            (Large(_), Whole(_)) => Ordering::Greater,
            (Float(a), Float(b)) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
            (Whole(a), Float(b)) => whole(a, b),
            (Float(a), Whole(b)) => whole(b, a).reverse(),
            (Large(a), Float(b)) => large(a, b),
            (Float(a), Large(b)) => large(b, a).reverse(),
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a whole number between the bounds is not truncated")]
fn whole(whole: i128, float: f64) -> Ordering {
    if float >= TWO_POW_127 {
        return Ordering::Less;
    }
    if float < -TWO_POW_127 {
        return Ordering::Greater;
    }
    whole.cmp(&(float.floor() as i128)).then(compare_floor(float))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a whole number between the bounds is not truncated"
)]
fn large(large: u128, float: f64) -> Ordering {
    if float >= TWO_POW_128 {
        return Ordering::Less;
    }
    if float < TWO_POW_127 {
        return Ordering::Greater;
    }
    large.cmp(&(float as u128))
}

/// Compares the integer part of a number with the number.
fn compare_floor(float: f64) -> Ordering {
    if float.floor() < float { Ordering::Less } else { Ordering::Equal }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(one: &str, expected: Ordering, other: &str) {
        let (a, b) = (Number::read(one).unwrap(), Number::read(other).unwrap());
        assert_eq!(a.compare(b), expected, "{one} and {other}");
        assert_eq!(b.compare(a), expected.reverse(), "{other} and {one}");
    }

    #[test]
    fn numbers_are_compared_exactly() {
        use Ordering::{Equal, Greater, Less};
        check("1", Equal, "1.0");
        check("1", Equal, "1e0");
        check("-0", Equal, "0.0");
        check("1", Less, "1.5");
        check("-1", Greater, "-1.5");
        check("-2", Less, "-1.5");
        check("9007199254740993", Greater, "9007199254740992.0");
        check("18446744073709551617", Greater, "18446744073709551616");
        check("340282366920938463463374607431768211455", Greater, "170141183460469231731687303715884105727");
        check("340282366920938463463374607431768211455", Less, "1e300");
        check("340282366920938463463374607431768211455", Greater, "-1e300");
        check("340282366920938463463374607431768211455", Greater, "1.5");
        check(
            "-170141183460469231731687303715884105728",
            Equal,
            "-170141183460469231731687303715884105728.0",
        );
        check("-170141183460469231731687303715884105728", Greater, "-1e300");
        check("170141183460469231731687303715884105727", Less, "1e300");
        check("0.1", Less, "0.2");
    }
}
