//! `cargo xtask test --changed`: selects the tests for the files that changed.
//!
//! A file of a package selects the tests of that package. A source file also selects the modules of the black-box
//! suites that are named after its subject, and a page or a fixture those whose text names it. This keeps the edit loop
//! short; `cargo xtask ci` also tests the packages that depend on a changed one.

use std::{collections::BTreeSet, fs, path::Path, process::Command};

use anyhow::{Context as _, Result};
use xtask::{compile, shell, workspace::Workspace};

/// The branch that changes are compared with.
const MAIN_BRANCH: &str = "main";

/// Directory of the modules of the black-box suites.
const SUITE_DIR: &str = "tests/tests/suite";

/// The package with the black-box suites.
pub(crate) const SUITE_PACKAGE: &str = "tests";

/// Module that calls every route, so every change of the API selects it.
const EVERY_ROUTE: &str = "every_route";

/// Parts of paths whose black-box modules are named differently.
const OTHER_NAMES: [(&str, &str); 9] = [
    ("automations", "triggers"),
    ("email", "mail"),
    ("members", "people"),
    ("projects", "backend"),
    ("rest", "backend"),
    ("rows", "backend"),
    ("runs", "triggers"),
    ("runtime", "sandbox"),
    ("tokens", "auth"),
];

/// The tests that a change selects.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Selection {
    /// Packages whose tests are run, without the black-box suites.
    pub(crate) packages: BTreeSet<String>,
    /// Modules of the black-box suites.
    pub(crate) modules: BTreeSet<String>,
    /// True if the change may affect every test, as that of the lock file.
    pub(crate) is_everything: bool,
}

/// A package of the workspace.
#[derive(Debug, Clone)]
struct Package {
    name: String,
    /// Relative to the workspace, without a trailing slash.
    folder: String,
}

/// A module of the black-box suites.
#[derive(Debug, Clone)]
struct SuiteModule {
    name: String,
    /// Text of all of its files.
    text: String,
}

/// Selects the tests for what changed since the branch left `main`, committed or not.
pub(crate) fn select(workspace: &Workspace) -> Result<Selection> {
    let packages = packages(workspace)?;
    let modules = suite_modules(&workspace.root.join(SUITE_DIR))?;
    let mut selection = Selection::default();
    for file in changed_files(workspace)? {
        selection.add(&file, &packages, &modules);
    }
    Ok(selection)
}

impl Selection {
    fn add(&mut self, file: &str, packages: &[Package], modules: &[SuiteModule]) {
        if let Some(rest) = file.strip_prefix(SUITE_DIR).and_then(|rest| rest.strip_prefix('/')) {
            let name = rest.split('/').next().unwrap_or_default().trim_end_matches(".rs");
            let matching = modules.iter().filter(|module| name == "main" || module.name == name);
            self.modules.extend(matching.map(|module| module.name.clone()));
            return;
        }
        let owner = packages.iter().find(|package| is_inside(file, &package.folder));
        match owner {
            Some(package) if package.name == SUITE_PACKAGE && file.ends_with(".rs") => {
                self.packages.insert(package.name.clone());
                self.modules.extend(modules.iter().map(|module| module.name.clone()));
            }
            Some(package) if package.name == SUITE_PACKAGE && !file.ends_with("Cargo.toml") => {
                self.modules.extend(modules_that_name(file, modules));
            }
            Some(package) => {
                self.packages.insert(package.name.clone());
                self.modules.extend(modules_of_subject(file, modules));
            }
            None if affects_every_package(file) => self.is_everything = true,
            None => {
                // The tests of the harness compare the pages with the API description.
                if is_inside(file, "docs") {
                    self.packages.insert(SUITE_PACKAGE.to_owned());
                }
                self.modules.extend(modules_that_name(file, modules));
            }
        }
    }
}

fn is_inside(file: &str, folder: &str) -> bool {
    file.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// True if a file determines how all packages are compiled.
fn affects_every_package(file: &str) -> bool {
    file.starts_with(".cargo/") || ["Cargo.toml", "Cargo.lock", "rust-toolchain.toml"].contains(&file)
}

/// Returns the modules that are named after a directory or file in the path of a source file.
fn modules_of_subject(file: &str, modules: &[SuiteModule]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for part in file.split('/') {
        let part = part.trim_start_matches("adapter-").trim_end_matches(".rs").replace('-', "_");
        let other = OTHER_NAMES.iter().find(|(from, _)| *from == part).map(|(_, to)| *to);
        let named = modules.iter().filter(|module| {
            is_same_subject(&module.name, &part)
                || other.is_some_and(|other| is_same_subject(&module.name, other))
        });
        found.extend(named.map(|module| module.name.clone()));
    }
    if is_inside(file, "crates/api") {
        found.insert(EVERY_ROUTE.to_owned());
    }
    found
}

/// True if one name begins with all words of the other, ignoring plurals: `webhooks` and `webhook_refusals`.
fn is_same_subject(module: &str, part: &str) -> bool {
    let singular = |word: &'_ str| word.trim_end_matches('s').to_owned();
    module.split('_').map(singular).zip(part.split('_').map(singular)).all(|(one, other)| one == other)
}

/// Returns the modules whose text names a file; for a file below `tests`, or else its nearest directory that any names.
fn modules_that_name(file: &str, modules: &[SuiteModule]) -> BTreeSet<String> {
    let naming_modules = |path: &str| -> BTreeSet<String> {
        modules.iter().filter(|module| module.text.contains(path)).map(|module| module.name.clone()).collect()
    };
    let Some(below_tests) = file.strip_prefix("tests/") else { return naming_modules(file) };
    let paths = Path::new(below_tests).ancestors().filter_map(Path::to_str).filter(|path| !path.is_empty());
    paths.map(naming_modules).find(|named| !named.is_empty()).unwrap_or_default()
}

/// Returns the packages of the workspace, those in deeper folders first.
fn packages(workspace: &Workspace) -> Result<Vec<Package>> {
    let metadata = workspace.members()?;
    let relative = |manifest: &Path| {
        let folder = manifest.parent()?.strip_prefix(&workspace.root).ok()?;
        Some(folder.to_str()?.to_owned())
    };
    let mut packages = metadata
        .packages
        .iter()
        .map(|package| {
            let folder = relative(package.manifest_path.as_std_path())
                .context("a package is outside the workspace")?;
            Ok(Package { name: package.name.to_string(), folder })
        })
        .collect::<Result<Vec<_>>>()?;
    packages.sort_by_key(|package| std::cmp::Reverse(package.folder.len()));
    Ok(packages)
}

fn suite_modules(folder: &Path) -> Result<Vec<SuiteModule>> {
    let mut modules = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        let Some(name) = path.file_stem().and_then(|stem| stem.to_str()).filter(|stem| *stem != "main")
        else {
            continue;
        };
        if path.is_file() {
            let mut text = String::new();
            read_texts(&path, &mut text)?;
            read_texts(&folder.join(name), &mut text)?;
            modules.push(SuiteModule { name: name.to_owned(), text });
        }
    }
    Ok(modules)
}

/// Appends the text of a file or of all files of a directory; nothing if neither exists.
fn read_texts(path: &Path, text: &mut String) -> Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            read_texts(&entry?.path(), text)?;
        }
    } else if path.is_file() {
        *text += &fs::read_to_string(path)?;
    }
    Ok(())
}

/// Returns the files that were changed, added or removed, relative to the workspace.
fn changed_files(workspace: &Workspace) -> Result<BTreeSet<String>> {
    let git = |args: &[&str]| shell::output(Command::new("git").args(args).current_dir(&workspace.root));
    let base = git(&["merge-base", MAIN_BRANCH, "HEAD"])?;
    let changed = git(&["diff", "--name-only", "--no-renames", base.trim()])?;
    let added = git(&["ls-files", "--others", "--exclude-standard"])?;
    Ok(changed.lines().chain(added.lines()).map(str::to_owned).collect())
}

/// Returns the modules with these names, and fails if one does not exist.
pub(crate) fn named_modules(workspace: &Workspace, names: &[String]) -> Result<BTreeSet<String>> {
    let modules = suite_modules(&workspace.root.join(SUITE_DIR))?;
    let find = |name: &String| {
        let exists = modules.iter().any(|module| module.name == *name);
        exists.then(|| name.clone()).with_context(|| {
            format!("there is no module `{name}` in {SUITE_DIR} (test target `{}`)", compile::SUITE)
        })
    };
    names.iter().map(find).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn select(files: &[&str]) -> Selection {
        let package = |name: &str, folder: &str| Package { name: name.to_owned(), folder: folder.to_owned() };
        let packages = [
            package("adapter-email", "crates/adapter-email"),
            package("api", "crates/api"),
            package("kernel", "crates/kernel"),
            package("runs", "crates/runs"),
            package("tests", "tests"),
        ];
        let module = |name: &str, text: &str| SuiteModule { name: name.to_owned(), text: text.to_owned() };
        let modules = [
            module("clients", r#"Path::new(root).join("clients")"#),
            module("every_route", ""),
            module("github_sender", r#"join("clients/github")"#),
            module("mail", ""),
            module("people", ""),
            module("tour", r#"include_str!("../../../README.md")"#),
            module("triggers", ""),
            module("webhook_docs", r#"include_str!("../../../docs/webhooks.md")"#),
            module("webhook_refusals", ""),
            module("webhooks", r#"include_str!("../../fixtures/push.json")"#),
        ];
        let mut selection = Selection::default();
        for file in files {
            selection.add(file, &packages, &modules);
        }
        selection
    }

    #[track_caller]
    fn assert_selected(files: &[&str], packages: &[&str], modules: &[&str]) {
        let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect::<BTreeSet<_>>();
        let expected = Selection { packages: owned(packages), modules: owned(modules), is_everything: false };
        assert_eq!(select(files), expected, "{files:?}");
    }

    #[test]
    fn a_source_file_selects_its_package_and_the_suites_of_its_subject() {
        assert_selected(&["crates/kernel/src/id.rs"], &["kernel"], &[]);
        assert_selected(
            &["crates/runs/src/webhooks/configure.rs"],
            &["runs"],
            &["triggers", "webhook_docs", "webhook_refusals", "webhooks"],
        );
        assert_selected(&["crates/adapter-email/src/lib.rs"], &["adapter-email"], &["mail"]);
        assert_selected(&["crates/api/src/routes/members.rs"], &["api"], &["every_route", "people"]);
        assert_selected(&["crates/kernel/Cargo.toml"], &["kernel"], &[]);
    }

    #[test]
    fn a_suite_selects_itself_and_the_harness_selects_all_suites() {
        assert_selected(&["tests/tests/suite/mail.rs"], &[], &["mail"]);
        assert_selected(&["tests/tests/suite/every_route/bodies.rs"], &[], &["every_route"]);
        assert_eq!(select(&["tests/tests/suite/main.rs"]).modules.len(), 10);
        assert_eq!(select(&["tests/src/server.rs"]).modules.len(), 10);
    }

    #[test]
    fn a_page_or_fixture_selects_the_suites_that_name_it() {
        assert_selected(&["README.md"], &[], &["tour"]);
        assert_selected(&["docs/webhooks.md"], &["tests"], &["webhook_docs"]);
        assert_selected(&["docs/style.md"], &["tests"], &[]);
        assert_selected(&["tests/fixtures/push.json"], &[], &["webhooks"]);
        assert_selected(&["tests/clients/github/package.json"], &[], &["github_sender"]);
        assert_selected(&["LICENSE"], &[], &[]);
    }

    #[test]
    fn files_that_affect_every_package_select_every_test() {
        for file in ["Cargo.lock", "Cargo.toml", ".cargo/config.toml", "rust-toolchain.toml"] {
            assert!(select(&[file]).is_everything, "{file}");
        }
    }

    #[test]
    fn names_are_compared_word_by_word() {
        assert!(is_same_subject("webhook_refusals", "webhooks"));
        assert!(is_same_subject("mail", "mail_worker"));
        assert!(!is_same_subject("webhook_docs", "webhook_refusals"));
        assert!(!is_same_subject("errors", "events"));
    }
}
