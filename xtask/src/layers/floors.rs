//! Floors of a crate: groups of its modules, each of which imports from itself and from the floors below.

use super::imports::{Imports, ModulePath};

/// The floors of a crate from the bottom up, each with the modules that stand on it.
pub(super) struct Floors {
    pub(super) crate_name: &'static str,
    pub(super) floors: &'static [&'static [&'static str]],
}

/// The crates that have floors.
pub(super) const FLOORS: [Floors; 1] =
    [Floors { crate_name: "api", floors: &[&["http", "state"], &["auth"], &["routes"], &["router"]] }];

impl Floors {
    /// Imports that lead upwards, and modules that stand on no floor.
    pub(super) fn check(&self, imports: &Imports) -> Vec<String> {
        let mut broken = Vec::new();
        for (module, targets) in imports.iter().filter(|(module, _)| !module.is_empty()) {
            let Some(floor) = self.floor_of(module) else {
                broken.push(format!("{} stands on no floor", module.join("::")));
                continue;
            };
            let is_above = |target: &&ModulePath| self.floor_of(target).is_some_and(|other| other > floor);
            broken.extend(
                targets
                    .iter()
                    .filter(is_above)
                    .map(|to| format!("{} -> {}", module.join("::"), to.join("::"))),
            );
        }
        broken
    }

    fn floor_of(&self, module: &ModulePath) -> Option<usize> {
        let top = module.first()?;
        self.floors.iter().position(|floor| floor.contains(&top.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::{super::imports::tests::imports_of, *};

    #[test]
    fn an_import_that_leads_upwards_and_a_module_without_a_floor_are_named() {
        let floors = Floors { crate_name: "api", floors: &[&["http"], &["routes"]] };
        let imports = imports_of(&[
            ("", "use routes::router;"),
            ("http", ""),
            ("http::error", "use crate::routes::list::List;"),
            ("routes", ""),
            ("routes::list", "use crate::http::error::Error;"),
            ("attic", ""),
        ]);
        assert_eq!(floors.check(&imports), ["attic stands on no floor", "http::error -> routes::list"]);
    }
}
