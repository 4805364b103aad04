use proc_macro2::TokenStream;
use syn::{Generics, Ident, Lifetime, Type, Visibility};

use crate::attr::Runtime;

/// A view: a part of a state.
pub(crate) struct View {
    pub(crate) name: Ident,
    pub(crate) visibility: Visibility,
    pub(crate) generics: Generics,
    pub(crate) runtime: Runtime,
    /// The viewed state; `None` if `of` is missing.
    pub(crate) of: Option<Type>,
    pub(crate) fields: Vec<Field>,
}

/// A field of a view. It has the value of a field of the state.
pub(crate) struct Field {
    pub(crate) name: Ident,
    pub(crate) ty: Type,
    /// The path from the state to its field, such as `chat.log`.
    pub(crate) from: TokenStream,
    pub(crate) ownership: Ownership,
}

/// The form in which a view holds the value of a field.
pub(crate) enum Ownership {
    /// `&'a T`
    Borrowed,
    /// `Option<&'a T>`. The type is the inner `&'a T`.
    BorrowedInOption(Box<Type>),
    /// Any type without the view's lifetime: the field is cloned.
    Cloned,
    /// A type that uses the view's lifetime in an unsupported way.
    Unknown,
}

impl View {
    /// Returns the view's lifetime, if it has one. A second lifetime is a mistake.
    pub(crate) fn lifetime(&self) -> Option<&Lifetime> {
        self.generics.lifetimes().next().map(|param| &param.lifetime)
    }
}
