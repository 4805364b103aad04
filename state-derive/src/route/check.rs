use quote::ToTokens;
use syn::GenericParam;

use crate::attr::Problems;

use super::model::{Destination, Exit, Route};

pub(crate) fn check(route: &Route, problems: &mut Problems) {
    for param in &route.generics.params {
        if let GenericParam::Lifetime(lifetime) = param {
            problems.at(lifetime, "a route cannot have a lifetime parameter: it must own its payload");
        }
    }
    for exit in &route.exits {
        check_destinations(exit, problems);
    }
    check_labels(route, problems);
}

fn check_destinations(exit: &Exit, problems: &mut Problems) {
    let Some(to) = &exit.to else {
        let variant = &exit.variant;
        problems.at(
            variant,
            format!("variant `{variant}` has no destination: write `#[to(node)]`, or `#[to(END)]` to end the branch"),
        );
        return;
    };
    let mut seen: Vec<String> = Vec::new();
    for destination in to {
        let written = match destination {
            Destination::Path(path) => path.to_token_stream().to_string().replace(' ', ""),
            Destination::Name(name) if name.value().is_empty() => {
                problems.at(name, "a node's name must not be empty");
                continue;
            }
            Destination::Name(name) => format!("{:?}", name.value()),
        };
        if seen.contains(&written) {
            problems.at(destination, format!("duplicate destination `{written}`"));
        } else {
            seen.push(written);
        }
    }
}

fn check_labels(route: &Route, problems: &mut Problems) {
    for (index, exit) in route.exits.iter().enumerate() {
        let label = exit.label();
        let others = route.exits.iter().enumerate().filter(|(other, _)| *other != index);
        let mut same = others.filter(|(_, other)| other.label() == label);
        let Some(written) = &exit.label else { continue };
        if label.is_empty() {
            problems.at(written, "a label must not be empty");
        } else if let Some((_, other)) = same.find(|(other, twin)| *other < index || twin.label.is_none()) {
            problems.at(written, format!("variant `{}` has the same label `{label}`", other.variant));
        }
    }
}
