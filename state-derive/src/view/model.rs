use proc_macro2::TokenStream;
use syn::{Generics, Ident, Lifetime, Type, Visibility};

use crate::attr::Runtime;

/// A view: a part of a state.
pub(crate) struct View {
    pub(crate) name: Ident,
    pub(crate) visibility: Visibility,
    pub(crate) generics: Generics,
    pub(crate) runtime: Runtime,
    /// The state that is viewed; `None` when the view does not say.
    pub(crate) of: Option<Type>,
    pub(crate) fields: Vec<Field>,
}

/// A field of a view, which shows a field of the state.
pub(crate) struct Field {
    pub(crate) name: Ident,
    pub(crate) ty: Type,
    /// The path to the field behind the state, `chat.log`, as it is to be written.
    pub(crate) from: TokenStream,
    pub(crate) held: Held,
}

/// How a view has what it shows.
pub(crate) enum Held {
    /// `&'a T`
    Borrowed,
    /// `Option<&'a T>`, with the `&'a T`.
    BorrowedInside(Box<Type>),
    /// Anything without the view's lifetime: a clone.
    Cloned,
    /// A type that holds the view's lifetime in another way.
    Unknown,
}

impl View {
    /// What the view borrows for, if it does; a second lifetime is a mistake.
    pub(crate) fn lifetime(&self) -> Option<&Lifetime> {
        self.generics.lifetimes().next().map(|param| &param.lifetime)
    }
}
