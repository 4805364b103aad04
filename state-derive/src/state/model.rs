//! The meaning of the struct, without attribute syntax.

use proc_macro2::Ident;
use quote::format_ident;
use syn::{Attribute, Expr, Generics, Lifetime, Path, Type, Visibility};

use crate::attr::Runtime;

use super::rule::Rule;

pub(super) struct State {
    pub(super) runtime: Runtime,
    pub(super) ident: Ident,
    pub(super) vis: Visibility,
    /// The parameters without lifetimes, with the bounds that the derive adds.
    pub(super) generics: Generics,
    /// The lifetime parameters, which are a mistake. The fallback is for `'static`.
    pub(super) lifetimes: Vec<Lifetime>,
    pub(super) invariants: Vec<Path>,
    /// The version of the stored state, if given.
    pub(super) version: Option<u32>,
    /// Earlier names of the struct, under which its versions were stored.
    pub(super) aliases: Vec<String>,
    /// The function that migrates older versions.
    pub(super) migrate: Option<Path>,
    /// `true` if the state has a JSON Schema.
    pub(super) schema: bool,
    /// The fields in source order.
    pub(super) members: Vec<Member>,
}

pub(super) enum Member {
    Field(Box<Field>),
    Flat(Box<Flat>),
}

/// A field of the state itself.
pub(super) struct Field {
    pub(super) ident: Ident,
    pub(super) vis: Visibility,
    pub(super) ty: Type,
    pub(super) docs: Vec<Attribute>,
    /// The index among the state's own fields. The fields of flattened states follow.
    pub(super) index: usize,
    /// The field's constant.
    pub(super) constant: Ident,
    /// The names in JSON: the written name first, then aliases.
    pub(super) names: Vec<String>,
    pub(super) reducer: Reducer,
    pub(super) ephemeral: bool,
    /// `true` if dumps and serialized events contain the field.
    pub(super) dumped: bool,
    /// `true` if dumps leave the field out while it is `None`.
    pub(super) skip_none: bool,
    /// `true` if the field is read from JSON and checkpoints.
    pub(super) tracked: bool,
    pub(super) codec: Codec,
    pub(super) in_input: InInput,
    pub(super) output: bool,
    pub(super) start: Start,
    pub(super) from_context: Option<Path>,
    pub(super) rules: Vec<Rule>,
}

/// A flattened state: its fields are also fields of this state.
pub(super) struct Flat {
    pub(super) ident: Ident,
    pub(super) vis: Visibility,
    pub(super) ty: Type,
    pub(super) docs: Vec<Attribute>,
    /// The index among the flattened states.
    pub(super) index: usize,
    /// The constant that stands for it in narrow updates.
    pub(super) constant: Ident,
    pub(super) in_input: InInput,
}

/// The presence of a field in the input of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum InInput {
    /// An argument of `input(..)`.
    Required,
    /// A setter of the input.
    Optional,
    Never,
}

pub(super) enum Reducer {
    Replace,
    /// A type of `superstep::reducers` or `messages`. `optional` is the `T` of an `Option<T>` field whose value the
    /// reducer folds.
    BuiltIn {
        name: &'static str,
        written: Path,
        optional: Option<Type>,
    },
    /// A user's type.
    Type(Path),
    /// A user's function and its update type.
    Function {
        path: Path,
        takes: Type,
    },
}

impl Reducer {
    /// Returns `true` for the reducer of conversations.
    pub(super) fn is_add_messages(&self) -> bool {
        matches!(self, Self::BuiltIn { name: "AddMessages", .. })
    }

    /// Returns the reducer as written, for errors.
    pub(super) fn written(&self) -> Option<&Path> {
        match self {
            Self::Replace => None,
            Self::BuiltIn { written, .. } => Some(written),
            Self::Type(path) | Self::Function { path, .. } => Some(path),
        }
    }

    /// Returns `true` if setters take exactly the reducer's update and no type that converts into it.
    pub(super) fn is_custom(&self) -> bool {
        matches!(self, Self::Type(_) | Self::Function { .. })
    }
}

/// The user's functions for writing and reading the value.
#[derive(Default)]
pub(super) struct Codec {
    pub(super) write: Option<Writer>,
    pub(super) read: Option<Path>,
}

impl Codec {
    /// Returns `true` if serde's traits write and read the value.
    pub(super) fn is_derived(&self) -> bool {
        self.write.is_none() && self.read.is_none()
    }
}

pub(super) enum Writer {
    /// A function with the signature of serde's `serialize_with`.
    Path(Path),
    /// Uses `Display`.
    Display,
    /// Uses `Debug`.
    Debug,
}

/// The initial value at the start of a run.
pub(super) enum Start {
    Default,
    Expr(Expr),
}

impl State {
    pub(super) fn fields(&self) -> impl Iterator<Item = &Field> {
        self.members.iter().filter_map(|member| match member {
            Member::Field(field) => Some(&**field),
            Member::Flat(_) => None,
        })
    }

    pub(super) fn flats(&self) -> impl Iterator<Item = &Flat> {
        self.members.iter().filter_map(|member| match member {
            Member::Flat(flat) => Some(&**flat),
            Member::Field(_) => None,
        })
    }

    pub(super) fn has_output(&self) -> bool {
        self.fields().any(|field| field.output)
    }

    pub(super) fn update(&self) -> Ident {
        format_ident!("{}Update", self.ident)
    }

    pub(super) fn input(&self) -> Ident {
        format_ident!("{}Input", self.ident)
    }

    pub(super) fn output(&self) -> Ident {
        format_ident!("{}Output", self.ident)
    }

    /// Returns the struct's name as a string.
    pub(super) fn name(&self) -> String {
        plain(&self.ident)
    }
}

impl Member {
    pub(super) fn ident(&self) -> &Ident {
        match self {
            Self::Field(field) => &field.ident,
            Self::Flat(flat) => &flat.ident,
        }
    }
}

impl Field {
    /// Returns `true` if the field needs an initial value. A required field needs none, unless a checkpoint may lack
    /// it.
    pub(super) fn has_start(&self) -> bool {
        self.in_input != InInput::Required || self.ephemeral || !self.tracked
    }

    pub(super) fn name(&self) -> &str {
        self.names.first().map(String::as_str).unwrap_or_default()
    }
}

/// Returns an identifier without `r#`.
pub(super) fn plain(ident: &Ident) -> String {
    use syn::ext::IdentExt;
    ident.unraw().to_string()
}
