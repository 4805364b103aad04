//! Implementations that nothing uses, so that a closure whose parameters have no types is one error.
//!
//! Each bound on the type of such a parameter is ambiguous. rustc reports the first one, at the closure, and then every
//! bound for which it can list the implementations that may be meant. It lists at most nine.

use super::param::{Extract, FixedParam, NoPacket, Source};

/// No parameter. There are several of them, one for each `N`.
#[expect(dead_code, reason = "only rustc reads its implementations")]
pub(crate) enum Undecided<const N: usize> {}

impl<const N: usize> FixedParam for Undecided<N> {
    type Role = ();
    type Packet = NoPacket;
    type At<'a> = ();
}

macro_rules! undecided {
    ($($number:literal)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<S, D> Extract<S, D> for Undecided<$number> {
            fn extract<'a>(_: Source<'a, S, D>) -> Option<()> {
                None
            }
        }
    )*};
}

undecided! { 0 1 2 3 4 5 6 7 8 9 }
