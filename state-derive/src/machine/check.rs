use crate::attr::Problems;

use super::model::Machine;

pub(crate) fn check(machine: &Machine, problems: &mut Problems) {
    if !machine.generics.params.is_empty() {
        problems.at(&machine.generics.params, "a machine cannot have generic parameters");
    }
    for (place, node) in machine.nodes.iter().enumerate() {
        let (earlier, name) = (machine.nodes.iter().take(place), node.name());
        let at = |problems: &mut Problems, message: String| match &node.stored {
            Some(stored) => problems.at(stored, message),
            None => problems.at(&node.ty, message),
        };
        if let Some(twin) = earlier.clone().find(|other| other.variant == node.variant) {
            let variant = &twin.variant;
            problems.at(
                &node.ty,
                format!("duplicate node `{variant}`: the type names of a machine's nodes must differ"),
            );
        } else if earlier.clone().any(|other| other.name() == name) {
            at(problems, format!("duplicate node name `{name}`"));
        } else if name.is_empty() || name == "START" || name == "END" {
            at(
                problems,
                format!("a node cannot be called `{name}`: give it another name, `Node = \"name\"`"),
            );
        }
    }
}
