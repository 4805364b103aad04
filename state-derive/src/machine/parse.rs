use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Data, DeriveInput, Fields, LitStr, Token, Type};

use crate::attr::{Problems, Runtime, Slot, items, unknown};

use super::model::{Machine, Node};

const KEYS: &[&str] = &["nodes", "output", "state", "context", "crate"];

pub(crate) fn parse(input: DeriveInput, problems: &mut Problems) -> Machine {
    let wrong =
        "a machine must be a unit struct, `struct Name;`, with its nodes in `#[machine(nodes(A, B))]`";
    match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Unit => {}
            fields => problems.at(fields, wrong),
        },
        Data::Enum(data) => problems.at(data.enum_token, wrong),
        Data::Union(data) => problems.at(data.union_token, wrong),
    }
    let (mut krate, mut output, mut state, mut context) =
        (Slot::default(), Slot::default(), Slot::default(), Slot::default());
    let mut nodes = Slot::default();
    items(&input.attrs, "machine", problems, |problems, item| {
        match item.key.to_string().as_str() {
            "nodes" => nodes.set(problems, &item.key, item.argument::<Listed>("a list of node types")?),
            "output" => output.set(problems, &item.key, item.ty()?),
            "state" => state.set(problems, &item.key, item.ty()?),
            "context" => context.set(problems, &item.key, item.ty()?),
            "crate" => krate.set(problems, &item.key, item.path()?),
            _ => return Err(unknown(&item.key, "attribute", KEYS)),
        }
        Ok(())
    });
    // A misspelt `nodes` is the only mistake.
    if !nodes.is_set() && problems.is_empty() {
        problems.at(&input.ident, "missing nodes: write `#[machine(nodes(A, B))]`");
    }
    let listed = nodes.take().map_or_else(Vec::new, |Listed(listed)| listed);
    Machine {
        name: input.ident,
        visibility: input.vis,
        generics: input.generics,
        runtime: Runtime::new(krate.get()),
        nodes: listed.into_iter().filter_map(|listed| read_node(listed, problems)).collect(),
        output: output.take(),
        state: state.take(),
        context: context.take(),
    }
}

fn read_node((ty, stored): (Type, Option<LitStr>), problems: &mut Problems) -> Option<Node> {
    let mut inner = &ty;
    // A `macro_rules!` wraps a type that it has matched in a group.
    while let Type::Group(group) = inner {
        inner = &group.elem;
    }
    let segment = match inner {
        Type::Path(path) => path.path.segments.last(),
        _ => None,
    };
    match segment.map(|segment| segment.ident.clone()) {
        Some(variant) => Some(Node { variant, ty, stored }),
        None => {
            problems.at(&ty, "expected the name of a struct or an enum");
            None
        }
    }
}

/// `A, B = "name", ..`
struct Listed(Vec<(Type, Option<LitStr>)>);

impl Parse for Listed {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let one = |input: ParseStream<'_>| {
            let ty = input.parse()?;
            let named = input.parse::<Option<Token![=]>>()?;
            Ok((ty, named.map(|_| input.parse()).transpose()?))
        };
        Punctuated::<_, Token![,]>::parse_terminated_with(input, one)
            .map(|listed| Self(listed.into_iter().collect()))
    }
}
