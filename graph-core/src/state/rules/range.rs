use garde::rules::range::{Bounds, OutOfBounds, apply};

/// Checks that the number is between `min` and `max`, both included. NaN is in no range.
///
/// # Errors
/// The number is lower than `min`, greater than `max`, or NaN.
pub fn range<T: Number>(value: &T, min: Option<T::Bound>, max: Option<T::Bound>) -> Result<(), String> {
    value.within(min, max)
}

/// A number that [`range`] can compare.
#[diagnostic::on_unimplemented(
    message = "the rule `range` cannot compare `{Self}`",
    label = "not a number",
    note = "`range` compares integers, floats and `Option`s of these; use `custom(path)` for other types"
)]
pub trait Number {
    /// The type of the bounds.
    type Bound;

    /// Checks that the number is in the range.
    ///
    /// # Errors
    /// The number is lower than `min`, greater than `max`, or NaN.
    fn within(&self, min: Option<Self::Bound>, max: Option<Self::Bound>) -> Result<(), String>;
}

#[diagnostic::do_not_recommend]
impl<T: Number> Number for Option<T> {
    type Bound = T::Bound;

    fn within(&self, min: Option<T::Bound>, max: Option<T::Bound>) -> Result<(), String> {
        self.as_ref().map_or(Ok(()), |number| number.within(min, max))
    }
}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        #[diagnostic::do_not_recommend]
        impl Number for $number {
            type Bound = $number;

            fn within(&self, min: Option<$number>, max: Option<$number>) -> Result<(), String> {
                compared(self, min, max)
            }
        }
    )*};
}

numbers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64);

fn compared<T: Bounds>(value: &T, min: Option<T::Size>, max: Option<T::Size>) -> Result<(), String> {
    // A NaN is neither lower nor greater than a bound, but it cannot be compared with itself.
    if value.partial_cmp(value).is_none() {
        return Err("not a number".to_owned());
    }
    match value.validate_bounds(min.unwrap_or(T::MIN), max.unwrap_or(T::MAX)) {
        // Infinity is greater than `T::MAX`, but without a `max` it is in the range.
        Err(OutOfBounds::Upper) if max.is_none() => Ok(()),
        Err(OutOfBounds::Lower) if min.is_none() => Ok(()),
        _ => super::message_of(apply(value, (min, max))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check<T: Number>(value: T, min: Option<T::Bound>, max: Option<T::Bound>, expected: Result<(), &str>) {
        assert_eq!(range(&value, min, max), expected.map_err(str::to_owned));
    }

    #[test]
    fn bounds_are_included() {
        check(0.0_f32, Some(0.0), Some(1.0), Ok(()));
        check(1.0_f32, Some(0.0), Some(1.0), Ok(()));
        check(7_u8, Some(8), None, Err("lower than 8"));
        check(-1_i64, None, Some(-2), Err("greater than -2"));
        check(f64::INFINITY, Some(0.0), Some(1.0), Err("greater than 1"));
        check(f64::INFINITY, Some(0.0), None, Ok(()));
        check(f64::NEG_INFINITY, None, Some(0.0), Ok(()));
        check(f64::NEG_INFINITY, Some(0.0), None, Err("lower than 0"));
    }

    #[test]
    fn nan_is_in_no_range() {
        check(f64::NAN, Some(0.0), Some(1.0), Err("not a number"));
        check(f32::NAN, None, None, Err("not a number"));
        check(Some(f64::NAN), Some(0.0), None, Err("not a number"));
        check(Some(Some(f32::NAN)), Some(0.0), None, Err("not a number"));
    }

    #[test]
    fn none_passes_the_rule() {
        check(None::<u8>, Some(1), Some(2), Ok(()));
        check(Some(3_u8), Some(1), Some(2), Err("greater than 2"));
    }
}
