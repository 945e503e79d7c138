//! Imports between the files of a crate, read from its source.
//!
//! A path that leads through a `pub use` counts as an import of the file that has the item, so that a module that only
//! collects its parts joins nothing. Test code does not count.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use anyhow::{Context as _, Result};
use syn::{
    Attribute, Item, ItemMod, ItemUse, UseTree, Visibility,
    visit::{self, Visit},
};

/// The path of a module in its crate; empty for the root.
pub(super) type ModulePath = Vec<String>;

/// The imports between the files of one crate.
pub(super) type Imports = BTreeMap<ModulePath, BTreeSet<ModulePath>>;

/// Path segments as they are written, after `use` or in code.
type Segments = Vec<String>;

#[derive(Default)]
struct File {
    paths: Vec<Segments>,
    /// Names that a `pub use` makes available here.
    reexports: BTreeMap<String, Segments>,
    /// Modules that exist only in tests.
    test_modules: Vec<String>,
}

/// Reads the files below `source`, a crate's folder `src`.
pub(super) fn read(source: &Path) -> Result<Imports> {
    let mut files = BTreeMap::new();
    read_folder(source, &ModulePath::new(), &mut files)?;
    Ok(connect(files))
}

fn read_folder(folder: &Path, parent: &ModulePath, files: &mut BTreeMap<ModulePath, File>) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
        let mut module = parent.clone();
        if path.is_dir() {
            module.push(stem);
            read_folder(&path, &module, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            if !matches!(stem.as_str(), "lib" | "main" | "mod") {
                module.push(stem);
            }
            let text =
                fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            let file = parse(&text).with_context(|| format!("cannot parse {}", path.display()))?;
            files.insert(module, file);
        }
    }
    Ok(())
}

fn parse(text: &str) -> Result<File> {
    let mut file = File::default();
    file.visit_file(&syn::parse_file(text)?);
    Ok(file)
}

/// Draws the imports between files, and leaves out what exists only in tests.
fn connect(mut files: BTreeMap<ModulePath, File>) -> Imports {
    let in_tests: Vec<ModulePath> = files
        .iter()
        .flat_map(|(module, file)| {
            file.test_modules.iter().map(|name| [module.as_slice(), std::slice::from_ref(name)].concat())
        })
        .collect();
    files.retain(|module, _| !in_tests.iter().any(|test| module.starts_with(test)));
    files
        .iter()
        .map(|(module, file)| {
            let paths = file.paths.iter().filter_map(|path| absolute(path, module, &files));
            let targets = paths.filter_map(|path| resolve(path, &files)).filter(|target| target != module);
            (module.clone(), targets.collect())
        })
        .collect()
}

/// A path from the crate's root; `None` for a path into another crate.
fn absolute(path: &[String], module: &ModulePath, files: &BTreeMap<ModulePath, File>) -> Option<Segments> {
    let first = path.first()?.as_str();
    match first {
        "crate" => Some(path[1..].to_vec()),
        "self" => Some([module.as_slice(), &path[1..]].concat()),
        "super" => {
            let levels = path.iter().take_while(|segment| *segment == "super").count();
            let base = module.get(..module.len().checked_sub(levels)?)?;
            Some([base, &path[levels..]].concat())
        }
        _ => {
            let child = [module.as_slice(), &path[..1]].concat();
            files.contains_key(&child).then(|| [module.as_slice(), path].concat())
        }
    }
}

/// The file that has what a path names.
fn resolve(mut path: Segments, files: &BTreeMap<ModulePath, File>) -> Option<ModulePath> {
    // A chain of re-exports is short; a bound keeps one that leads back to itself from going on.
    for _ in 0..8 {
        let length = (0..=path.len()).rev().find(|length| files.contains_key(&path[..*length]))?;
        let module = path[..length].to_vec();
        let reexport = path.get(length).and_then(|name| files[&module].reexports.get(name));
        match reexport.and_then(|target| absolute(target, &module, files)) {
            Some(target) if target != path => path = [target, path[length + 1..].to_vec()].concat(),
            _ => return Some(module),
        }
    }
    None
}

impl<'ast> Visit<'ast> for File {
    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let is_reexport = !matches!(item.vis, Visibility::Inherited);
        for (name, path) in leaves(&item.tree, &[]) {
            if is_reexport {
                self.reexports.insert(name, path);
            } else {
                self.paths.push(path);
            }
        }
    }

    fn visit_item(&mut self, item: &'ast Item) {
        if !is_test_only(item_attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if is_test_only(&item.attrs) {
            if item.content.is_none() {
                self.test_modules.push(item.ident.to_string());
            }
        } else {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Segments = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if segments.first().is_some_and(|first| matches!(first.as_str(), "crate" | "super" | "self"))
            && segments.len() > 1
        {
            self.paths.push(segments);
        }
        visit::visit_path(self, path);
    }
}

/// Every name that a tree of `use` brings in, with its path.
fn leaves(tree: &UseTree, prefix: &[String]) -> Vec<(String, Segments)> {
    let with = |name: String| [prefix, &[name]].concat();
    match tree {
        UseTree::Path(path) => leaves(&path.tree, &with(path.ident.to_string())),
        UseTree::Group(group) => group.items.iter().flat_map(|item| leaves(item, prefix)).collect(),
        UseTree::Name(name) if name.ident == "self" => {
            vec![(prefix.last().cloned().unwrap_or_default(), prefix.to_vec())]
        }
        UseTree::Name(name) => vec![(name.ident.to_string(), with(name.ident.to_string()))],
        UseTree::Rename(rename) => vec![(rename.rename.to_string(), with(rename.ident.to_string()))],
        UseTree::Glob(_) => vec![("*".to_owned(), prefix.to_vec())],
    }
}

pub(super) fn item_attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// `true` for `#[cfg(test)]`, also where it is one of several conditions any of which is enough.
pub(super) fn is_test_only(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.meta.require_list().is_ok_and(|list| {
                list.tokens.clone().into_iter().any(|token| token.to_string() == "test")
                    || list.tokens.to_string().starts_with("any (test")
            })
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The imports of a crate with these files, each a path joined by `::` and its text.
    pub(in crate::layers) fn imports_of(files: &[(&str, &str)]) -> Imports {
        let module = |name: &str| {
            name.split("::").filter(|segment| !segment.is_empty()).map(str::to_owned).collect::<ModulePath>()
        };
        connect(files.iter().map(|(name, text)| (module(name), parse(text).unwrap())).collect())
    }

    fn drawn(imports: &Imports) -> Vec<String> {
        let edge = |from: &ModulePath, to: &ModulePath| format!("{} -> {}", from.join("::"), to.join("::"));
        imports.iter().flat_map(|(from, to)| to.iter().map(move |to| edge(from, to))).collect()
    }

    #[test]
    fn a_path_through_a_reexport_leads_to_the_file_that_has_the_item() {
        let imports = imports_of(&[
            ("", "mod error; mod runs; pub use runs::Run;"),
            ("error", "use crate::Run;"),
            ("runs", "mod run; mod step; pub use run::Run;"),
            ("runs::run", "use super::step::Step; fn f() { crate::error::fail() }"),
            ("runs::step", ""),
        ]);
        assert_eq!(drawn(&imports), ["error -> runs::run", "runs::run -> error", "runs::run -> runs::step",]);
    }

    #[test]
    fn tests_import_nothing() {
        let imports = imports_of(&[
            ("", "mod a; mod b; #[cfg(test)] mod fixtures;"),
            ("a", "#[cfg(test)] mod tests { use crate::b::B; }"),
            ("b", "#[cfg(test)] use crate::a::A; pub struct B;"),
            ("fixtures", "use crate::a::A;"),
        ]);
        assert_eq!(drawn(&imports), Vec::<String>::new());
    }
}
