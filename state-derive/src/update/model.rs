use syn::{Generics, Ident, Type, Visibility};

use crate::attr::Runtime;

/// A narrow update: the values of some fields of a state.
pub(crate) struct Update {
    pub(crate) name: Ident,
    pub(crate) visibility: Visibility,
    pub(crate) generics: Generics,
    pub(crate) runtime: Runtime,
    /// The updated state; `None` if `of` is missing.
    pub(crate) of: Option<Type>,
    pub(crate) fields: Vec<Field>,
}

/// A field of a narrow update. It has a value for a field of the state.
pub(crate) struct Field {
    pub(crate) name: Ident,
    /// The type of the value. For an optional field, the type inside the `Option`.
    pub(crate) ty: Type,
    /// The field of the state.
    pub(crate) to: Ident,
    /// The name of the constant of the state's field.
    pub(crate) constant: Ident,
    /// `true` if the field of the state is a flattened state.
    pub(crate) flatten: bool,
    /// `true` if `None` leaves the field of the state as it is.
    pub(crate) skip_none: bool,
}
