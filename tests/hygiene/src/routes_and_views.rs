//! Derives routes and views of [`Shadowed`] among shadowed names.

use crate::shadowed::*;

pub async fn draft(_: &Shadowed) {}

pub async fn search(_: &::std::string::String, _: &::renamed::Context) {}

pub async fn read(_: Borrowed<'_>, _: Owned) {}

#[derive(::renamed::Route)]
#[route(crate = ::renamed)]
pub enum Way {
    /// Leads to several nodes.
    #[to(draft, self::read, crate::routes_and_views::draft)]
    Several,
    /// Carries a payload.
    #[to(search)]
    #[route(label = "look it up")]
    Search(::std::string::String),
    /// Leads to a named node and the end.
    #[to("second", ::renamed::END)]
    r#Type,
}

#[derive(::renamed::Route)]
#[route(crate = ::renamed)]
pub enum Generic<T: ::renamed::node::Payload, const N: ::core::primitive::usize = 3>
where
    [T; N]: ::renamed::node::Payload,
{
    /// A generic payload.
    #[to("many")]
    Many([T; N]),
    /// A generic payload.
    #[to(one::<T>)]
    One(T),
}

pub async fn one<T: ::renamed::node::Payload>(_: &T) {}

#[derive(::renamed::StateView)]
#[view(of = Shadowed, crate = ::renamed)]
pub struct Borrowed<'a> {
    /// Borrowed as another type.
    pub text: &'a ::core::primitive::str,
    /// Borrowed inside an `Option`.
    pub maybe: ::std::option::Option<&'a u8>,
    /// Renamed.
    #[view(from = list)]
    pub bytes: &'a [u8],
}

#[derive(::renamed::StateView)]
#[view(of = Shadowed, crate = ::renamed)]
pub struct Owned {
    /// A copy.
    pub number: u64,
}

#[derive(::renamed::StateUpdate)]
#[update(of = Shadowed, crate = ::renamed)]
pub struct Numbered {
    /// Written as it is.
    pub number: u64,
    /// Left out while it is `None`.
    #[update(to = text, skip_none)]
    pub r#type: ::std::option::Option<::std::string::String>,
}

pub async fn number(_: &Shadowed) -> Numbered {
    Numbered { number: 1, r#type: ::std::option::Option::None }
}

#[derive(::renamed::StateUpdate)]
#[update(of = Items<T>, crate = ::renamed)]
pub struct Put<T>
where
    T: ::core::clone::Clone + ::core::marker::Send + ::core::marker::Sync + 'static,
{
    /// All items.
    pub items: ::std::vec::Vec<T>,
}

#[derive(::renamed::GraphState, ::core::clone::Clone)]
#[state(crate = ::renamed)]
pub struct Items<T>
where
    T: ::core::clone::Clone + ::core::marker::Send + ::core::marker::Sync + 'static,
{
    /// Items of any type.
    #[state(untracked)]
    pub items: ::std::vec::Vec<T>,
}

#[derive(::renamed::StateView)]
#[view(of = Items<T>, crate = ::renamed)]
pub struct Shown<'a, T>
where
    T: ::core::clone::Clone + ::core::marker::Send + ::core::marker::Sync + 'static,
{
    /// A slice of the items.
    pub items: &'a [T],
}

macro_rules! ways {
    ($name:ident { $($(#[$meta:meta])* $variant:ident to $place:path,)* }) => {
        #[derive(::renamed::Route)]
        #[route(crate = ::renamed)]
        pub enum $name {
            $($(#[$meta])* #[to($place)] $variant,)*
        }
    };
}

ways!(FromAMacro { First to draft, Last to ::renamed::END, });

macro_rules! view {
    ($name:ident of $state:ty { $($field:ident: $ty:ty,)* } and $($rest:tt)*) => {
        #[derive(::renamed::StateView)]
        #[view(of = $state, crate = ::renamed)]
        pub struct $name<'a> {
            $(pub $field: $ty,)*
            pub text: &'a ::core::primitive::str,
            $($rest)*
        }
    };
}

macro_rules! update {
    ($name:ident of $state:ty { $($field:ident: $ty:ty,)* } and $($rest:tt)*) => {
        #[derive(::renamed::StateUpdate)]
        #[update(of = $state, crate = ::renamed)]
        pub struct $name {
            $(pub $field: $ty,)*
            pub text: ::std::string::String,
            $($rest)*
        }
    };
}

update!(UpdateFromAMacro of Shadowed { number: u64, } and
    pub list: ::std::vec::Vec<u8>,
);

view!(ViewFromAMacro of Shadowed { number: u64, } and
    pub list: ::std::vec::Vec<u8>,
);
