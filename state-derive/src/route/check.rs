use quote::ToTokens;
use syn::GenericParam;

use crate::attr::Problems;

use super::model::{Exit, Place, Route};

pub(crate) fn check(route: &Route, problems: &mut Problems) {
    for param in &route.generics.params {
        if let GenericParam::Lifetime(lifetime) = param {
            problems.at(lifetime, "a route outlives the node that returns it, so it owns what it carries: it cannot have a lifetime");
        }
    }
    for exit in &route.exits {
        check_places(exit, problems);
    }
    check_labels(route, problems);
}

fn check_places(exit: &Exit, problems: &mut Problems) {
    let Some(to) = &exit.to else {
        let variant = &exit.variant;
        problems.at(
            variant,
            format!("`{variant}` does not say where it goes: write `#[to(node)]`, or `#[to(END)]` to end the branch"),
        );
        return;
    };
    let mut seen: Vec<String> = Vec::new();
    for place in to {
        let written = match place {
            Place::Value(path) => path.to_token_stream().to_string().replace(' ', ""),
            Place::Named(name) if name.value().is_empty() => {
                problems.at(name, "a node's name is not empty");
                continue;
            }
            Place::Named(name) => format!("{:?}", name.value()),
        };
        if seen.contains(&written) {
            problems.at(place, format!("`{written}` stands here twice, and is reached once"));
        } else {
            seen.push(written);
        }
    }
}

fn check_labels(route: &Route, problems: &mut Problems) {
    for (place, exit) in route.exits.iter().enumerate() {
        let label = exit.label();
        let others = route.exits.iter().enumerate().filter(|(other, _)| *other != place);
        let mut same = others.filter(|(_, other)| other.label() == label);
        let Some(written) = &exit.label else { continue };
        if label.is_empty() {
            problems.at(written, "a label is not empty");
        } else if let Some((_, other)) = same.find(|(other, twin)| *other < place || twin.label.is_none()) {
            problems.at(written, format!("`{}` is labelled `{label}` as well", other.variant));
        }
    }
}
