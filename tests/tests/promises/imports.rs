//! The modules of a crate and their imports, read from its source.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::{Item, UseTree, Visibility};

pub(crate) type ModulePath = Vec<String>;

/// A module of the crate, as far as imports can refer to it.
#[derive(Default)]
pub(crate) struct Module {
    /// `true` for a `mod.rs`.
    pub(crate) is_index: bool,
    /// The names that it defines.
    items: BTreeSet<String>,
    /// The paths that it imports or exports again, by name.
    uses: BTreeMap<String, ModulePath>,
    /// All paths that it names, each with `true` if it is public.
    paths: Vec<(ModulePath, bool)>,
    /// All identifiers of its code.
    pub(crate) words: BTreeSet<String>,
}

fn is_test(item: &Item) -> bool {
    let Item::Mod(module) = item else { return false };
    module.attrs.iter().any(|attribute| attribute.to_token_stream().to_string().contains("cfg (test)"))
}

/// Collects the paths of a `use` tree, each with the name that it introduces.
fn leaves(tree: &UseTree, prefix: &[String], found: &mut Vec<(String, ModulePath)>) {
    let with = |name: &dyn ToString| [prefix, &[name.to_string()]].concat();
    match tree {
        UseTree::Path(path) => leaves(&path.tree, &with(&path.ident), found),
        UseTree::Name(name) if name.ident == "self" => {
            found.push((prefix.last().cloned().unwrap_or_default(), prefix.to_vec()));
        }
        UseTree::Name(name) => found.push((name.ident.to_string(), with(&name.ident))),
        UseTree::Rename(rename) => found.push((rename.rename.to_string(), with(&rename.ident))),
        UseTree::Glob(_) => found.push(("*".to_owned(), prefix.to_vec())),
        UseTree::Group(group) => group.items.iter().for_each(|tree| leaves(tree, prefix, found)),
    }
}

/// Collects the identifiers of code, and its paths that begin at the crate or at a module.
fn words_and_paths(code: TokenStream, module: &mut Module) {
    let mut path: ModulePath = Vec::new();
    let mut colons = 0;
    for token in code {
        match token {
            TokenTree::Ident(word) => {
                let word = word.to_string();
                if colons == 2 && !path.is_empty() {
                    path.push(word.clone());
                } else {
                    end_of_path(&mut path, module);
                    // `Self::new` is no path of modules, and `$crate` belongs to the user of a macro.
                    if matches!(word.as_str(), "crate" | "super") {
                        path.push(word.clone());
                    }
                }
                module.words.insert(word);
                colons = 0;
            }
            TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
            TokenTree::Group(group) => {
                end_of_path(&mut path, module);
                words_and_paths(group.stream(), module);
                colons = 0;
            }
            _ => {
                end_of_path(&mut path, module);
                colons = 0;
            }
        }
    }
    end_of_path(&mut path, module);
}

fn end_of_path(path: &mut ModulePath, module: &mut Module) {
    if path.len() > 1 {
        module.paths.push((std::mem::take(path), false));
    }
    path.clear();
}

fn read(file: &Path, is_index: bool) -> Module {
    let mut module = Module { is_index, ..Module::default() };
    for item in syn::parse_file(&fs::read_to_string(file).unwrap()).unwrap().items {
        if is_test(&item) {
            continue;
        }
        if let Item::Use(import) = &item {
            let is_public = matches!(import.vis, Visibility::Public(_));
            let mut found = Vec::new();
            leaves(&import.tree, &[], &mut found);
            for (name, path) in found {
                module.paths.push((path.clone(), is_public));
                module.uses.insert(name, path);
            }
            continue;
        }
        let name = match &item {
            Item::Struct(item) => Some(&item.ident),
            Item::Enum(item) => Some(&item.ident),
            Item::Trait(item) => Some(&item.ident),
            Item::Type(item) => Some(&item.ident),
            Item::Const(item) => Some(&item.ident),
            Item::Static(item) => Some(&item.ident),
            Item::Fn(item) => Some(&item.sig.ident),
            _ => None,
        };
        module.items.extend(name.map(ToString::to_string));
        words_and_paths(item.to_token_stream(), &mut module);
    }
    module
}

fn read_folder(folder: &Path, at: &[String], modules: &mut BTreeMap<ModulePath, Module>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let inner = [at, std::slice::from_ref(&name)].concat();
        if name == "tests" {
            continue;
        }
        if path.is_dir() {
            read_folder(&path, &inner, modules);
        } else if path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        } else if name == "mod" || name == "lib" {
            modules.insert(at.to_vec(), read(&path, true));
        } else {
            modules.insert(inner, read(&path, false));
        }
    }
}

/// Returns the module that defines the end of a path, following every `use`; `None` for a path out of the crate.
fn defining(
    modules: &BTreeMap<ModulePath, Module>,
    from: &[String],
    path: &[String],
    depth: usize,
) -> Option<ModulePath> {
    let (first, rest) = path.split_first()?;
    let inside = |name: &String| [from, std::slice::from_ref(name)].concat();
    match first.as_str() {
        "crate" => find(modules, &[], rest, depth),
        "self" => find(modules, from, rest, depth),
        "super" => find_or_super(modules, from.split_last()?.1, rest, depth),
        _ if modules.contains_key(&inside(first)) => find(modules, &inside(first), rest, depth),
        _ => None,
    }
}

fn find_or_super(
    modules: &BTreeMap<ModulePath, Module>,
    at: &[String],
    path: &[String],
    depth: usize,
) -> Option<ModulePath> {
    match path.first().map(String::as_str) {
        Some("super") => defining(modules, at, path, depth),
        _ => find(modules, at, path, depth),
    }
}

fn find(
    modules: &BTreeMap<ModulePath, Module>,
    at: &[String],
    path: &[String],
    depth: usize,
) -> Option<ModulePath> {
    let Some((first, rest)) = path.split_first() else { return Some(at.to_vec()) };
    let module = modules.get(at).filter(|_| depth < 20)?;
    if module.items.contains(first) {
        return Some(at.to_vec());
    }
    let inner = [at, std::slice::from_ref(first)].concat();
    let again = module.uses.get(first).filter(|path| **path != [first.clone()]);
    let exported = || Some([defining(modules, at, again?, depth + 1)?].concat());
    if modules.contains_key(&inner) && !rest.is_empty() {
        return find(modules, &inner, rest, depth + 1);
    }
    exported().or_else(|| modules.contains_key(&inner).then_some(inner)).or_else(|| {
        let all = module.uses.get("*")?;
        find(modules, &defining(modules, at, all, depth + 1)?, path, depth + 1)
    })
}

/// Returns the modules of a package, by their paths, without tests.
pub(crate) fn modules(folder: &str) -> BTreeMap<ModulePath, Module> {
    let mut modules = BTreeMap::new();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder).join("src");
    read_folder(&source, &[], &mut modules);
    modules
}

/// Returns the modules that define the names which a module uses, each with the path that names it.
///
/// Without the public names that an index takes from another folder to give them their public paths.
pub(crate) fn targets(
    modules: &BTreeMap<ModulePath, Module>,
    at: &[String],
    module: &Module,
) -> Vec<(ModulePath, String)> {
    let from: &[String] = if module.is_index { at } else { at.split_last().map_or(&[], |(_, at)| at) };
    let paths = module.paths.iter().filter(|(_, is_public)| !(module.is_index && *is_public));
    let target = |(path, _): &(ModulePath, bool)| {
        let path: ModulePath = match path.first().map(String::as_str) {
            // In a file, `super` is its folder.
            Some("super") if !module.is_index => [&["self".to_owned()], &path[1..]].concat(),
            _ => path.clone(),
        };
        let target = defining(modules, from, &path, 0).filter(|target| !target.is_empty())?;
        Some((target, path.join("::")))
    };
    paths.filter_map(target).collect()
}
