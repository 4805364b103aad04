use std::time::Duration;

use super::{ReduceError, Reducer, Stamp, Undo};

/// Adds to a number or a duration. A sum out of the range of the type is an error, except that a float becomes infinite.
///
/// ```
/// use superstep::reducers::{Add, Reducer};
///
/// let mut count = 250_u8;
/// Add::fold(&mut count, 5)?;
/// assert_eq!(count, 255);
/// let error = Add::fold(&mut count, 1).unwrap_err();
/// assert_eq!(error.to_string(), "255 + 1 is out of the range of `u8`");
/// # Ok::<(), superstep::reducers::ReduceError>(())
/// ```
#[derive(Debug)]
pub enum Add {}

macro_rules! add {
    ($($number:ty: $fallible:literal, $sum:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl Reducer<$number> for Add {
            type Update = $number;
            type Delta = $number;

            const FALLIBLE: bool = $fallible;

            fn prepare(update: $number, _: &Stamp<'_>) -> Result<$number, ReduceError> {
                Ok(update)
            }

            fn fold(value: &mut $number, delta: $number) -> Result<(), ReduceError> {
                Self::apply(value, delta).map(drop)
            }

            fn apply(value: &mut $number, delta: $number) -> Result<Undo<$number>, ReduceError> {
                let sum: Option<$number> = $sum(*value, delta);
                let sum = sum.ok_or_else(|| {
                    let range = stringify!($number);
                    ReduceError::new(format!("{value:?} + {delta:?} is out of the range of `{range}`"))
                })?;
                Ok(Undo::Value(std::mem::replace(value, sum)))
            }
        }
    )*};
}

macro_rules! add_checked {
    ($($number:ident),*) => { add! { $($number: true, $number::checked_add;)* } };
}

add_checked!(u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, Duration);

add! {
    f32: false, |value, delta| Some(value + delta);
    f64: false, |value, delta| Some(value + delta);
}

super::begins_at_default!(Add);

super::takes_one!(Add);

#[cfg(test)]
mod tests {
    use super::super::Optional;
    use super::super::laws::{check, check_error};
    use super::*;

    #[test]
    fn numbers_and_durations_are_added() {
        check::<Add, u32>(1, 2, 3);
        check::<Add, i8>(1, -2, -1);
        check::<Add, f64>(0.5, 0.25, 0.75);
        check::<Add, Duration>(
            Duration::from_secs(1),
            Duration::from_millis(500),
            Duration::from_millis(1500),
        );
    }

    #[test]
    fn sum_out_of_range_is_an_error() {
        check_error::<Add, u8>(250, 10, "250 + 10 is out of the range of `u8`");
        check_error::<Add, i64>(i64::MIN, -1, "-9223372036854775808 + -1 is out of the range of `i64`");
        check_error::<Add, Duration>(
            Duration::MAX,
            Duration::from_secs(1),
            "18446744073709551615.999999999s + 1s is out of the range of `Duration`",
        );
    }

    #[test]
    fn none_starts_at_zero() {
        check::<Optional<Add>, Option<u32>>(None, 3, Some(3));
        check::<Optional<Add>, Option<u32>>(Some(1), 3, Some(4));
        check::<Optional<Add>, Option<u32>>(Some(1), None, Some(1));
    }
}
