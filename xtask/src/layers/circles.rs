//! Circles of files: files of one crate that import from each other, so that none can be read, tested or moved alone.

use std::collections::BTreeSet;

use super::imports::{Imports, ModulePath};

/// The circles of a crate, save those of one module and its direct children.
pub(super) fn find(imports: &Imports) -> Vec<Vec<ModulePath>> {
    let mut circles = BTreeSet::new();
    for module in imports.keys() {
        let circle: Vec<ModulePath> = reachable(imports, module)
            .into_iter()
            .filter(|other| reachable(imports, other).contains(module))
            .collect();
        if circle.len() > 1 && !is_family(&circle) {
            circles.insert(circle);
        }
    }
    circles.into_iter().collect()
}

/// The modules that a path of imports leads to from here, this one included where a path leads back.
fn reachable(imports: &Imports, start: &ModulePath) -> BTreeSet<ModulePath> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![start]);
    while let Some(module) = open.pop() {
        for target in imports.get(module).into_iter().flatten() {
            if seen.insert(target.clone()) {
                open.push(target);
            }
        }
    }
    seen
}

/// `true` for a module and its own children. The root is nobody's family: everything is its child.
fn is_family(circle: &[ModulePath]) -> bool {
    let is_child = |module: &ModulePath, parent: &ModulePath| {
        module.split_last().is_some_and(|(_, rest)| rest == parent.as_slice())
    };
    let is_parent =
        |parent: &&ModulePath| circle.iter().all(|module| module == *parent || is_child(module, parent));
    circle.iter().filter(|module| !module.is_empty()).any(|module| is_parent(&module))
}

#[cfg(test)]
mod tests {
    use super::{super::imports::tests::imports_of, *};

    #[test]
    fn a_circle_is_found_and_a_module_with_its_children_is_none() {
        let imports = imports_of(&[
            ("", ""),
            ("a", "use crate::b::B;"),
            ("b", "use crate::c::C;"),
            ("c", "use crate::a::A;"),
            ("d", "use crate::d::e::E;"),
            ("d::e", "use super::D;"),
            ("f", "use crate::a::A;"),
        ]);
        let names = |circle: &Vec<ModulePath>| circle.iter().map(|module| module.join("::")).collect();
        let found: Vec<Vec<String>> = find(&imports).iter().map(names).collect();
        assert_eq!(found, [["a", "b", "c"]]);
    }
}
