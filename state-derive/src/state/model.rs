//! What the struct means, free of attribute syntax.

use proc_macro2::Ident;
use quote::format_ident;
use syn::{Attribute, Expr, Generics, Path, Type, Visibility};

use crate::attr::Runtime;

use super::rule::Rule;

pub(super) struct State {
    pub(super) runtime: Runtime,
    pub(super) ident: Ident,
    pub(super) vis: Visibility,
    pub(super) generics: Generics,
    pub(super) invariants: Vec<Path>,
    /// The version of what is stored, when one is given.
    pub(super) version: Option<u32>,
    /// Names that the struct had before: a version is kept under them.
    pub(super) aliases: Vec<String>,
    /// What brings an older version to this one.
    pub(super) migrate: Option<Path>,
    /// Whether the JSON Schema is asked for.
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
    /// The place among the state's own fields; those of flattened states follow.
    pub(super) index: usize,
    /// The field's constant.
    pub(super) constant: Ident,
    /// The names in JSON: the one that is written, then aliases.
    pub(super) names: Vec<String>,
    pub(super) reducer: Reducer,
    pub(super) ephemeral: bool,
    /// Written into dumps and serialized events.
    pub(super) dumped: bool,
    /// Read from JSON and, in time, from checkpoints.
    pub(super) tracked: bool,
    pub(super) codec: Codec,
    pub(super) given: Given,
    pub(super) output: bool,
    pub(super) start: Start,
    pub(super) from_context: Option<Path>,
    pub(super) rules: Vec<Rule>,
}

/// A state whose fields are this state's as well.
pub(super) struct Flat {
    pub(super) ident: Ident,
    pub(super) vis: Visibility,
    pub(super) ty: Type,
    pub(super) docs: Vec<Attribute>,
    /// The place among the flattened states.
    pub(super) index: usize,
    pub(super) given: Given,
}

/// Whether a run's input holds the field.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Given {
    /// An argument of `input(..)`.
    Always,
    /// By a setter of the input.
    Maybe,
    Never,
}

pub(super) enum Reducer {
    Replace,
    /// A type of `superstep::reducers` (or `messages`); `optional` where the field is an `Option` of what it folds.
    BuiltIn {
        name: &'static str,
        written: Path,
        optional: Option<Type>,
    },
    /// A type of the user's.
    Type(Path),
    /// A function of the user's, and what it takes.
    Function {
        path: Path,
        takes: Type,
    },
}

impl Reducer {
    /// Whether it keeps a conversation.
    pub(super) fn is_add_messages(&self) -> bool {
        matches!(self, Self::BuiltIn { name: "AddMessages", .. })
    }

    /// The reducer as it was written, for errors.
    pub(super) fn written(&self) -> Option<&Path> {
        match self {
            Self::Replace => None,
            Self::BuiltIn { written, .. } => Some(written),
            Self::Type(path) | Self::Function { path, .. } => Some(path),
        }
    }

    /// Whether setters take exactly the reducer's update, not what converts into it.
    pub(super) fn is_custom(&self) -> bool {
        matches!(self, Self::Type(_) | Self::Function { .. })
    }
}

/// How the value becomes JSON and comes back.
#[derive(Default)]
pub(super) struct Codec {
    pub(super) write: Option<Writer>,
    pub(super) read: Option<Path>,
}

pub(super) enum Writer {
    /// Through a function in serde's manner.
    Path(Path),
    /// Through `Display`.
    Display,
    /// Through `Debug`.
    Debug,
}

/// The value at the start of a fresh run.
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

    /// The struct's name as a string.
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
    /// Whether the field can have a value that nobody gave: a required one has none, unless a checkpoint may lack it.
    pub(super) fn has_start(&self) -> bool {
        self.given != Given::Always || self.ephemeral || !self.tracked
    }

    pub(super) fn name(&self) -> &str {
        self.names.first().map(String::as_str).unwrap_or_default()
    }
}

/// An identifier without `r#`.
pub(super) fn plain(ident: &Ident) -> String {
    use syn::ext::IdentExt;
    ident.unraw().to_string()
}
