//! No two files import each other, also by way of others.

use std::collections::{BTreeMap, BTreeSet};

use crate::imports::{ModulePath, modules, targets};

const PACKAGES: [&str; 8] = [
    "state-derive",
    "graph-store",
    "graph-sqlite",
    "graph-postgres",
    "graph-conformance",
    "graph-core",
    "graph-agent",
    "graph-server",
];

/// Files that name each other by their nature, by the beginnings of their paths.
const EXCEPTIONS: [(&str, &[&str]); 1] = [
    // `GraphState` has the types of its update and its input, whose traits name it; the engine calls all three through traits
    // that name one another too.
    ("graph-core", &["state/", "erased/"]),
];

/// Finds the files of each cycle, by Tarjan's algorithm.
struct Search<'a> {
    imports: &'a BTreeMap<ModulePath, BTreeSet<ModulePath>>,
    numbers: BTreeMap<&'a ModulePath, (usize, usize)>,
    path: Vec<&'a ModulePath>,
    cycles: Vec<Vec<String>>,
}

impl<'a> Search<'a> {
    fn visit(&mut self, at: &'a ModulePath) -> usize {
        let number = self.numbers.len();
        self.numbers.insert(at, (number, number));
        self.path.push(at);
        for next in self.imports.get(at).into_iter().flatten() {
            let low = match self.numbers.get(next) {
                None => self.visit(next),
                Some((number, _)) if self.path.contains(&next) => *number,
                Some(_) => continue,
            };
            let (_, own) = self.numbers.get_mut(at).unwrap();
            *own = low.min(*own);
        }
        let (number, low) = self.numbers[at];
        if number == low {
            let begin = self.path.iter().position(|on| *on == at).unwrap();
            let cycle = self.path.split_off(begin);
            if cycle.len() > 1 {
                self.cycles.push(cycle.iter().map(|file| file.join("/")).collect());
            }
        }
        low
    }
}

#[test]
fn files_do_not_import_each_other() {
    let (mut found, mut followed) = (Vec::new(), 0);
    for package in PACKAGES {
        let modules = modules(package);
        // An index only hands out the names of its folder.
        let files = modules.iter().filter(|(_, module)| !module.is_index);
        let imports = files.map(|(at, module)| {
            let targets = targets(&modules, at, module).into_iter().map(|(target, _)| target);
            let is_file = |target: &ModulePath| target != at && !modules[target].is_index;
            (at.clone(), targets.filter(is_file).collect::<BTreeSet<_>>())
        });
        let imports: BTreeMap<_, _> = imports.collect();
        followed += imports.values().map(BTreeSet::len).sum::<usize>();
        let mut search =
            Search { imports: &imports, numbers: BTreeMap::new(), path: Vec::new(), cycles: Vec::new() };
        for at in imports.keys() {
            if !search.numbers.contains_key(at) {
                search.visit(at);
            }
        }
        let natural = EXCEPTIONS.iter().filter(|(of, _)| *of == package).flat_map(|(_, folders)| *folders);
        let natural: Vec<_> = natural.collect();
        let is_natural = |file: &String| natural.iter().any(|folder| file.starts_with(**folder));
        found.extend(
            search
                .cycles
                .into_iter()
                .filter(|cycle| !cycle.iter().all(is_natural))
                .map(|cycle| (package, cycle)),
        );
    }
    assert!(followed > 2_500, "only {followed} imports were followed");
    assert!(found.is_empty(), "{found:#?}");
}
