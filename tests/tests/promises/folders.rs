//! The folders of `superstep` import each other in one direction, and the engine names no state's type.

use std::collections::BTreeSet;

use crate::imports::{Module, modules, targets};

/// The folders from the lowest to the highest. A folder imports only from those before it and from its own line.
const ORDER: &[&str] = &[
    "attributes checkpoint store cache payload limits",
    "state reducers",
    "messages",
    "erased",
    "error",
    "step",
    "plan",
    "drawing",
    "policy",
    "options",
    "interrupt",
    "stream",
    "engine/at",
    "engine/journal",
    "engine/spans",
    "engine/context",
    "engine/graph",
    "engine/task",
    "engine/apply",
    "engine/stored",
    "engine/persist",
    "engine/restore",
    "engine/run",
    "engine/start",
    "engine/child",
    "node",
    "run",
    "graph",
    "thread",
    "subgraph",
    "machine workflow",
    "schema durable __private",
];

/// Modules with a reason to import from above.
const EXCEPTIONS: &[&str] = &[
    // Its provided methods run an input and an update through the engine, so that users can test a node.
    "state/graph_state",
];

/// Returns the place of a module in [`ORDER`], by its longest folder there.
fn rank(module: &[String]) -> Option<usize> {
    let module = module.join("/");
    let folder = |name: &str| module == name || module.starts_with(&format!("{name}/"));
    ORDER.iter().position(|line| line.split(' ').any(folder))
}

#[test]
fn folders_import_only_from_lower_folders() {
    let modules = modules("graph-core");
    let (mut upward, mut checked) = (BTreeSet::new(), 0);
    for (at, module) in modules.iter().filter(|(at, _)| !at.is_empty()) {
        let Some(own) = rank(at) else {
            // The index of the engine hands out the names of its folders.
            assert_eq!(at.join("/"), "engine", "a folder without a place in the order");
            continue;
        };
        if EXCEPTIONS.iter().any(|exception| **exception == at.join("/")) {
            continue;
        }
        for (target, path) in targets(&modules, at, module) {
            checked += 1;
            if rank(&target).is_some_and(|target| target > own) {
                upward.insert(format!("{} imports {} ({path})", at.join("/"), target.join("/")));
            }
        }
    }
    assert!(checked > 3000, "only {checked} imports were followed");
    assert!(upward.is_empty(), "{upward:#?}");
}

#[test]
fn engine_names_no_type_of_a_state() {
    let named = |module: &Module| module.words.contains("GraphState");
    let modules = modules("graph-core");
    let engine = modules.iter().filter(|(at, _)| at.first().is_some_and(|first| first == "engine"));
    let engine: Vec<_> = engine.collect();
    assert!(engine.len() > 100);
    let generic: Vec<_> =
        engine.iter().filter(|(_, module)| named(module)).map(|(at, _)| at.join("/")).collect();
    assert!(generic.is_empty(), "{generic:?}");
}
