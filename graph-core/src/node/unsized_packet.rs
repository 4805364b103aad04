//! The parameters `&str` and `&[T]`, which a packet of type `String` or `Vec<T>` derefs to.

use std::marker::PhantomData;

use super::param::{Carries, Extract, FixedParam, IsPacket, Param, Source};

/// The lifetime-free name of `&str` as a parameter.
#[derive(Debug)]
pub enum Text {}

/// The lifetime-free name of `&[T]` as a parameter.
pub struct Items<T>(PhantomData<fn() -> T>);

#[diagnostic::do_not_recommend]
impl Param for &str {
    type Fixed = Text;
}

impl FixedParam for Text {
    type Role = IsPacket;
    type Packet = Carries<String>;
    type At<'a> = &'a str;
}

impl<S, D> Extract<S, D> for Text {
    fn extract<'a>(from: Source<'a, S, D>) -> Option<&'a str> {
        from.packet?.get::<String>().map(String::as_str)
    }
}

#[diagnostic::do_not_recommend]
impl<T: Sync + 'static> Param for &[T] {
    type Fixed = Items<T>;
}

impl<T: Sync + 'static> FixedParam for Items<T> {
    type Role = IsPacket;
    type Packet = Carries<Vec<T>>;
    type At<'a> = &'a [T];
}

impl<S, D, T: Sync + 'static> Extract<S, D> for Items<T> {
    fn extract<'a>(from: Source<'a, S, D>) -> Option<&'a [T]> {
        from.packet?.get::<Vec<T>>().map(Vec::as_slice)
    }
}
