use syn::{Attribute, Data, DeriveInput, Expr, Fields, Ident, Path, Type};

use crate::attr::{Problems, Runtime, Slot, items, unknown};
use crate::state::build::{constant, option};

use super::model::{Field, Update};

pub(crate) fn parse(input: DeriveInput, problems: &mut Problems) -> Update {
    let (of, krate) = read_struct(&input.attrs, problems);
    let mut update = Update {
        name: input.ident,
        visibility: input.vis,
        generics: input.generics,
        runtime: Runtime::new(krate.as_ref()),
        of,
        fields: Vec::new(),
    };
    let wrong = "an update must be a struct with named fields";
    match input.data {
        Data::Struct(data) => match data.fields {
            Fields::Named(fields) => {
                let fields = fields.named.into_iter();
                update.fields = fields.filter_map(|field| read_field(field, problems)).collect();
            }
            Fields::Unnamed(fields) => problems.at(fields, wrong),
            Fields::Unit => problems.at(&update.name, wrong),
        },
        Data::Enum(data) => problems.at(data.enum_token, wrong),
        Data::Union(data) => problems.at(data.union_token, wrong),
    }
    update
}

fn read_struct(attrs: &[Attribute], problems: &mut Problems) -> (Option<Type>, Option<Path>) {
    let mut of = Slot::default();
    let mut krate = Slot::default();
    items(attrs, "update", problems, |problems, item| {
        match item.key.to_string().as_str() {
            "of" => of.set(problems, &item.key, item.ty()?),
            "crate" => krate.set(problems, &item.key, item.path()?),
            "to" | "flatten" | "skip_none" => {
                let message = format!("`{}` belongs on a field", item.key);
                return Err(syn::Error::new(item.key.span(), message));
            }
            key if key.starts_with(char::is_uppercase) => {
                // Counts as set, so that no second mistake is reported.
                let state = item.key.clone();
                of.set(problems, &item.key, syn::parse_quote!(#state));
                return Err(syn::Error::new(item.key.span(), format!("write `#[update(of = {key})]`")));
            }
            _ => return Err(unknown(&item.key, "attribute", &["of", "crate"])),
        }
        Ok(())
    });
    (of.get().cloned(), krate.get().cloned())
}

fn read_field(field: syn::Field, problems: &mut Problems) -> Option<Field> {
    let (mut to, mut flatten, mut skip_none) = (Slot::default(), Slot::default(), Slot::default());
    items(&field.attrs, "update", problems, |problems, item| {
        match item.key.to_string().as_str() {
            "to" => to.set(problems, &item.key, read_name(item.expr()?)?),
            "flatten" => flatten.set(problems, &item.key, item.flag()?),
            "skip_none" => skip_none.set(problems, &item.key, item.flag()?),
            "of" | "crate" => {
                let message = format!("`{}` belongs on the struct", item.key);
                return Err(syn::Error::new(item.key.span(), message));
            }
            _ => return Err(unknown(&item.key, "attribute", &["to", "flatten", "skip_none"])),
        }
        Ok(())
    });
    let name = field.ident?;
    let to = to.get().cloned().unwrap_or_else(|| name.clone());
    let mut ty = field.ty;
    if let Some(key) = skip_none.key() {
        match option(&ty) {
            Some(inner) => ty = inner.clone(),
            None => problems.at(key, "`skip_none` needs a field of the type `Option<..>`"),
        }
    }
    Some(Field {
        constant: constant(&to),
        name,
        ty,
        to,
        flatten: flatten.is_set(),
        skip_none: skip_none.is_set(),
    })
}

/// `answer`: the name of a field of the state.
fn read_name(path: Expr) -> syn::Result<Ident> {
    if let Expr::Path(name) = &path
        && let Some(name) = name.path.get_ident()
    {
        return Ok(name.clone());
    }
    let message = "`to` takes the name of a field of the state; for a field of a flattened state, write an update of \
                   that state in a field with `#[update(flatten)]`";
    Err(syn::Error::new_spanned(path, message))
}
