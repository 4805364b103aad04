use std::cmp::Ordering;

use super::order::compare;
use super::{Begin, ReduceError, Reducer, Stamp, Undo};

/// Keeps the least of all writes. A value that cannot be compared, such as NaN, is an error.
///
/// The field's start value takes part. Make the field an `Option` if it has none.
///
/// ```
/// use superstep::reducers::{Min, Reducer};
///
/// let mut best = 3;
/// Min::fold(&mut best, 1)?;
/// Min::fold(&mut best, 3)?;
/// assert_eq!(best, 1);
/// # Ok::<(), superstep::reducers::ReduceError>(())
/// ```
#[derive(Debug)]
pub enum Min {}

#[diagnostic::do_not_recommend]
impl<T: PartialOrd + Clone + Send + Sync + 'static> Reducer<T> for Min {
    type Update = T;
    type Delta = T;

    fn prepare(update: T, _: &Stamp<'_>) -> Result<T, ReduceError> {
        Ok(update)
    }

    fn fold(value: &mut T, delta: T) -> Result<(), ReduceError> {
        Self::apply(value, delta).map(drop)
    }

    fn apply(value: &mut T, delta: T) -> Result<Undo<T>, ReduceError> {
        Ok(match compare(&delta, value)? {
            Ordering::Less => Undo::Value(std::mem::replace(value, delta)),
            _ => Undo::nothing(),
        })
    }
}

#[diagnostic::do_not_recommend]
impl<T: PartialOrd + Clone + Send + Sync + 'static> Begin<T> for Min {
    fn begin(delta: T) -> Result<T, ReduceError> {
        // A first NaN would make every later write fail.
        compare(&delta, &delta)?;
        Ok(delta)
    }
}

super::takes_one!(Min);

#[cfg(test)]
mod tests {
    use super::super::Optional;
    use super::super::laws::{PanicsOnCompare, check, check_error};
    use super::*;

    #[test]
    fn least_value_wins() {
        check::<Min, u8>(3, 1, 1);
        check::<Min, f64>(1.0, 3.0, 1.0);
        check::<Min, String>("b".to_owned(), "b".to_owned(), "b".to_owned());
    }

    #[test]
    fn none_starts_with_the_first_write() {
        check::<Optional<Min>, Option<f32>>(None, 0.5, Some(0.5));
        check::<Optional<Min>, Option<f32>>(Some(3.0), 1.0, Some(1.0));
        check::<Optional<Min>, Option<f32>>(None, None, None);
    }

    #[test]
    fn values_without_order_are_an_error() {
        let expected = "the values cannot be compared: one of them is not a number, or has no order";
        check_error::<Min, f64>(1.0, f64::NAN, expected);
        check_error::<Optional<Min>, Option<f64>>(None, f64::NAN, expected);
        check_error::<Min, PanicsOnCompare>(
            PanicsOnCompare(1),
            PanicsOnCompare(13),
            "the reducer panicked: touched",
        );
    }
}
