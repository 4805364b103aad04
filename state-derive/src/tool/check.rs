//! What cannot be a tool, all of it at once.

use syn::{FnArg, ReturnType, Type};

use crate::attr::Problems;

use super::model::{Kind, Tool};

pub(super) fn check(tool: &Tool, problems: &mut Problems) {
    let signature = &tool.signature;
    if signature.asyncness.is_none() {
        problems.at(signature.fn_token, "a tool is an async function: write `async fn`");
    }
    if !signature.generics.params.is_empty() || signature.generics.where_clause.is_some() {
        problems
            .at(&signature.generics, "a tool has no generic parameters: a model could not say what they are");
    }
    if let Some(receiver) = signature.inputs.iter().find(|input| matches!(input, FnArg::Receiver(_))) {
        problems
            .at(receiver, "a tool is no method: what it needs it takes from the context, `&ContextWith<_>`");
    }
    if let ReturnType::Type(_, ty) = &signature.output
        && let Type::ImplTrait(ty) = &**ty
    {
        problems.at(
            ty,
            "a tool says what it returns: a text, a number, JSON, `ToolReply` or a `Result` of these",
        );
    }
    if tool.description.is_empty() {
        problems.at(
            &signature.ident,
            "a tool needs a description, by which the model chooses it: write a doc comment",
        );
    }
    params(tool, problems);
}

fn params(tool: &Tool, problems: &mut Problems) {
    let mut whole = tool.params.iter().filter(|param| matches!(param.kind, Kind::Arguments));
    if let (Some(_), Some(second)) = (whole.next(), whole.next()) {
        problems.at(&second.ty, "`#[tool(all)]` is given twice");
    }
    for param in &tool.params {
        if matches!(param.kind, Kind::Argument(_)) && param.ident.is_none() {
            problems.at(&param.ty, "an argument has a name, by which the model gives it");
        }
        match (&param.kind, &param.ty) {
            (Kind::Argument(_), ty) if tool.whole().is_some() => {
                problems.at(ty, "another parameter has all arguments already: `#[tool(all)]`");
            }
            (Kind::Argument(_), Type::ImplTrait(ty)) => {
                problems.at(ty, "an argument has a type that can be read from JSON");
            }
            (Kind::Provided, Type::Reference(reference)) => match &*reference.elem {
                _ if reference.mutability.is_some() => {
                    problems.at(reference, "a tool changes nothing in place: return an update");
                }
                Type::Path(path) if path.path.is_ident("str") => {
                    problems.at(reference, "an argument is owned: write `String`");
                }
                Type::Slice(slice) => {
                    let item = &slice.elem;
                    let item = quote::quote!(#item);
                    problems.at(reference, format!("an argument is owned: write `Vec<{item}>`"));
                }
                _ => {}
            },
            _ => {}
        }
    }
}
