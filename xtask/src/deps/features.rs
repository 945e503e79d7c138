//! One set of features for the program and for its tests.
//!
//! `cargo run` enables the features that the packages of a plain build need, `cargo xtask test` those that all packages with
//! their tests need. A crate that has other features in the two is compiled twice, with everything above it, and what is
//! tested is not what ships. The manifest of `qala` names the features that only tests need. A procedural macro of ours has no
//! dev-dependencies: they are compiled for this machine, and give other macros, and all that uses them, other features.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use cargo_metadata::{DependencyKind, Package, Target};
use xtask::{shell, workspace::Workspace};

/// The features with which a crate is compiled, each time it is: for this machine's programs and for the product.
type Features = BTreeMap<String, BTreeSet<String>>;

/// Returns the crates that a build of the program compiles with other features than one of the tests.
pub(super) fn check(workspace: &Workspace) -> Result<Vec<String>> {
    let program = features(workspace, &["--edges", "normal,build"])?;
    let tests = features(workspace, &["--workspace", "--edges", "normal,build,dev"])?;
    let members = workspace.members()?.packages;
    Ok([differences(&program, &tests), tested_macros(&members)].concat())
}

fn tested_macros(members: &[Package]) -> Vec<String> {
    let is_macro = |package: &&Package| package.targets.iter().any(Target::is_proc_macro);
    let has_tests_of_its_own = |package: &&Package| {
        package.dependencies.iter().any(|dependency| dependency.kind == DependencyKind::Development)
    };
    let tested = members.iter().filter(is_macro).filter(has_tests_of_its_own);
    tested
        .map(|package| {
            format!("{} is a procedural macro with dev-dependencies; test it where it is used", package.name)
        })
        .collect()
}

fn features(workspace: &Workspace, selection: &[&str]) -> Result<Features> {
    let mut tree = shell::cargo(workspace);
    tree.args(["tree", "--locked", "--prefix", "none", "--format", "{p}|{f}"]).args(selection);
    Ok(parse(&shell::output(&mut tree)?))
}

/// Reads lines like `regex v1.13.1|perf,std (*)`; the mark stands on those that were printed before.
fn parse(tree: &str) -> Features {
    let mut found = Features::new();
    for (name, features) in tree.lines().filter_map(|line| line.trim_end_matches(" (*)").split_once('|')) {
        found
            .entry(name.trim_end_matches(" (proc-macro)").to_owned())
            .or_default()
            .insert(features.to_owned());
    }
    found
}

fn differences(program: &Features, tests: &Features) -> Vec<String> {
    let mut problems = Vec::new();
    for (name, compiled) in program {
        let Some(tested) = tests.get(name) else { continue };
        for features in compiled.difference(tested) {
            let names = |features: &str| features.split(',').map(str::to_owned).collect::<BTreeSet<_>>();
            let missing =
                tested.iter().map(|tested| &names(tested) - &names(features)).min_by_key(BTreeSet::len);
            let missing = missing.unwrap_or_default().into_iter().collect::<Vec<_>>().join(", ");
            problems.push(format!(
                "{name} has other features in tests; name them in crates/qala/Cargo.toml: {missing}"
            ));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feature_that_only_tests_enable_is_a_problem() {
        let tests =
            parse("regex v1.0.0|perf,std,unicode\nsyn v2.0.0 (proc-macro)|full\nproptest v1.0.0|std\n");
        assert_eq!(
            differences(&parse("regex v1.0.0|perf,std,unicode (*)\nsyn v2.0.0|full\n"), &tests),
            [""; 0]
        );
        assert_eq!(
            differences(&parse("regex v1.0.0|perf,std\n"), &tests),
            ["regex v1.0.0 has other features in tests; name them in crates/qala/Cargo.toml: unicode"]
        );
    }

    #[test]
    fn a_macro_has_no_dependencies_of_its_tests() {
        let package = |kind: &str, dependency: &str| -> Package {
            serde_json::from_value(serde_json::json!({
                "name": "macros", "version": "0.1.0", "id": "macros", "manifest_path": "/Cargo.toml", "features": {},
                "targets": [{"name": "macros", "kind": [kind], "crate_types": [kind], "src_path": "/src/lib.rs", "edition": "2024"}],
                "dependencies": [{"name": "tokio", "req": "1", "kind": dependency, "optional": false,
                    "uses_default_features": true, "features": []}],
            }))
            .unwrap()
        };
        assert_eq!(tested_macros(&[package("proc-macro", "dev")]).len(), 1);
        assert_eq!(tested_macros(&[package("lib", "dev"), package("proc-macro", "build")]), [""; 0]);
    }

    #[test]
    fn a_crate_may_be_compiled_for_the_machine_too() {
        let tests = parse("memchr v2.0.0|alloc,std\nmemchr v2.0.0|\n");
        assert_eq!(differences(&parse("memchr v2.0.0|\nmemchr v2.0.0|alloc,std\n"), &tests), [""; 0]);
    }
}
