//! Reports everything that cannot be a tool.

use syn::{ReturnType, Type};

use crate::attr::Problems;

use super::model::{Kind, Tool};

pub(super) fn check(tool: &Tool, problems: &mut Problems) {
    let signature = &tool.signature;
    if signature.asyncness.is_none() {
        problems.at(signature.fn_token, "a tool must be an async function: write `async fn`");
    }
    if !signature.generics.params.is_empty() || signature.generics.where_clause.is_some() {
        problems.at(&signature.generics, "a tool cannot have generic parameters");
    }
    if let Some(receiver) = signature.receiver() {
        problems.at(
            receiver,
            "a tool cannot be a method: take shared values from the context, `&ContextWith<_>`",
        );
    } else if let Some(ty) = tool.self_type() {
        problems.at(ty, "a tool cannot be an associated function: write it outside the `impl` block");
    }
    if let ReturnType::Type(_, ty) = &signature.output
        && let Type::ImplTrait(ty) = &**ty
    {
        problems.at(
            ty,
            "a tool needs a concrete return type: a string, a number, JSON, `ToolReply` or a `Result` of these",
        );
    }
    if tool.description.is_empty() {
        problems.at(&signature.ident, "a tool needs a description for the model: write a doc comment");
    }
    params(tool, problems);
}

fn params(tool: &Tool, problems: &mut Problems) {
    let mut all = tool.params.iter().filter(|param| matches!(param.kind, Kind::AllArguments));
    if let (Some(_), Some(second)) = (all.next(), all.next()) {
        problems.at(&second.ty, "only one parameter can have `#[tool(all)]`");
    }
    for param in &tool.params {
        if matches!(param.kind, Kind::Argument(_)) && param.ident.is_none() {
            problems.at(&param.ty, "an argument needs a name, not a pattern");
        }
        match (&param.kind, &param.ty) {
            (Kind::Argument(_), ty) if tool.all_arguments().is_some() => {
                problems.at(ty, "another parameter already takes all arguments: `#[tool(all)]`");
            }
            (Kind::Argument(_), Type::ImplTrait(ty)) => {
                problems.at(ty, "an argument needs a concrete type that can be read from JSON");
            }
            (Kind::Provided, Type::Reference(reference)) => match &*reference.elem {
                _ if reference.mutability.is_some() => {
                    problems.at(reference, "a tool cannot change the state in place: return an update");
                }
                Type::Path(path) if path.path.is_ident("str") => {
                    problems.at(reference, "an argument must be owned: write `String`");
                }
                Type::Slice(slice) => {
                    let item = &slice.elem;
                    let item = quote::quote!(#item);
                    problems.at(reference, format!("an argument must be owned: write `Vec<{item}>`"));
                }
                _ => {}
            },
            _ => {}
        }
    }
}
