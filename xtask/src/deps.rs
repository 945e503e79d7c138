//! `cargo xtask deps`: checks third-party crates against the policy in `xtask/deps.toml`, and their features.

mod features;

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result, bail};
use cargo_metadata::{Metadata, semver::Version};
use serde::Deserialize;
use spdx::{Expression, LicenseReq, ParseMode};
use xtask::workspace::Workspace;

const POLICY: &str = "xtask/deps.toml";
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// The content of `xtask/deps.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Policy {
    /// SPDX identifiers, and identifiers `WITH` an exception.
    licences: BTreeSet<String>,
    /// Reasons by crate name.
    #[serde(default)]
    banned: BTreeMap<String, String>,
    #[serde(default)]
    duplicate: Vec<Duplicate>,
}

/// A crate that is accepted in several versions.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Duplicate {
    name: String,
    /// The compatible series, such as `0.10` or `2`, so that patch releases need no review.
    series: BTreeSet<String>,
    reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct ThirdPartyCrate {
    name: String,
    version: Version,
    licence: Option<String>,
}

#[derive(Deserialize)]
struct Lockfile {
    package: Vec<LockedPackage>,
}

#[derive(Deserialize)]
struct LockedPackage {
    name: String,
    source: Option<String>,
}

/// Fails if a dependency is outside the policy, a listed duplicate no longer exists, or tests enable other features.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let policy =
        toml::from_str::<Policy>(&workspace.read(POLICY)?).with_context(|| format!("in {POLICY}"))?;
    let lockfile = toml::from_str::<Lockfile>(&workspace.read("Cargo.lock")?).context("in Cargo.lock")?;
    let crates = third_party_crates(&workspace.resolved()?);
    let problems = [
        check_sources(&lockfile),
        check_licences(&crates, &policy),
        check_banned(&crates, &policy),
        check_duplicates(&crates, &policy),
        features::check(workspace)?,
    ]
    .concat();
    if problems.is_empty() {
        println!("deps: {} crates comply with {POLICY}", crates.len());
        return Ok(());
    }
    for problem in &problems {
        println!("deps: {problem}");
    }
    bail!("{} problems with dependencies", problems.len())
}

fn third_party_crates(metadata: &Metadata) -> Vec<ThirdPartyCrate> {
    let third_party = metadata.packages.iter().filter(|package| package.source.is_some());
    third_party
        .map(|package| ThirdPartyCrate {
            name: package.name.to_string(),
            version: package.version.clone(),
            licence: package.license.clone(),
        })
        .collect()
}

fn check_sources(lockfile: &Lockfile) -> Vec<String> {
    let problems = lockfile.package.iter().filter_map(|package| {
        let source = package.source.as_deref().filter(|source| *source != CRATES_IO)?;
        Some(format!("{} comes from {source}; only crates.io is allowed", package.name))
    });
    problems.collect()
}

fn check_licences(crates: &[ThirdPartyCrate], policy: &Policy) -> Vec<String> {
    let mut problems = Vec::new();
    for it in crates {
        let Some(licence) = &it.licence else {
            problems.push(format!("{} {} declares no licence", it.name, it.version));
            continue;
        };
        // LAX: old crates write `MIT/Apache-2.0`.
        match Expression::parse_mode(licence, ParseMode::LAX) {
            Ok(expression) if expression.evaluate(|requirement| is_allowed(requirement, policy)) => {}
            Ok(_) => problems
                .push(format!("{} {} has the licence {licence}, which is not allowed", it.name, it.version)),
            Err(error) => problems.push(format!("{} {}: {licence}: {error}", it.name, it.version)),
        }
    }
    problems
}

fn is_allowed(requirement: &LicenseReq, policy: &Policy) -> bool {
    policy.licences.contains(&requirement.to_string())
}

fn check_banned(crates: &[ThirdPartyCrate], policy: &Policy) -> Vec<String> {
    let banned = crates.iter().filter_map(|it| {
        let reason = policy.banned.get(&it.name)?;
        Some(format!("{} {} is banned: {reason}", it.name, it.version))
    });
    banned.collect()
}

fn check_duplicates(crates: &[ThirdPartyCrate], policy: &Policy) -> Vec<String> {
    let mut found = BTreeMap::<&str, BTreeSet<String>>::new();
    for it in crates {
        found.entry(&it.name).or_default().insert(compatible_series(&it.version));
    }
    found.retain(|_, series| series.len() > 1);

    let mut problems = Vec::new();
    for accepted in &policy.duplicate {
        let name = accepted.name.as_str();
        match found.remove(name) {
            None => problems.push(format!("{name} has only one version now; remove it from the list")),
            Some(series) if series != accepted.series => {
                problems.push(format!(
                    "{name} has other versions than listed; they are now\n{}",
                    duplicate_stanza(name, &series)
                ));
            }
            Some(_) if accepted.reason.trim().is_empty() => {
                problems.push(format!("the duplicate {name} is listed without a reason"));
            }
            Some(_) => {}
        }
    }
    problems.extend(found.iter().map(|(name, series)| {
        format!(
            "{name} is compiled in several versions; avoid that, or list it with a reason\n{}",
            duplicate_stanza(name, series)
        )
    }));
    problems
}

/// Returns the leading numbers that compatible releases share.
fn compatible_series(version: &Version) -> String {
    match (version.major, version.minor) {
        (0, 0) => format!("0.0.{}", version.patch),
        (0, minor) => format!("0.{minor}"),
        (major, _) => major.to_string(),
    }
}

fn duplicate_stanza(name: &str, series: &BTreeSet<String>) -> String {
    format!(
        "\n[[duplicate]]\nname = {name:?}\nseries = {:?}\nreason = \"\"\n",
        series.iter().collect::<Vec<_>>()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(text: &str) -> Policy {
        toml::from_str(text).unwrap()
    }

    fn third_party_crate(name: &str, version: &str, licence: &str) -> ThirdPartyCrate {
        let licence = Some(licence.to_owned()).filter(|licence| !licence.is_empty());
        ThirdPartyCrate { name: name.to_owned(), version: version.parse().unwrap(), licence }
    }

    #[test]
    fn licence_expressions_are_evaluated_as_a_whole() {
        let policy = policy(r#"licences = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"]"#);
        for (licence, is_allowed) in [
            ("MIT", true),
            ("MIT/Apache-2.0", true),
            ("GPL-3.0-only OR MIT", true),
            ("GPL-3.0-only AND MIT", false),
            ("(MIT OR GPL-3.0-only) AND Apache-2.0", true),
            ("Apache-2.0 WITH LLVM-exception", true),
            ("MIT AND Apache-2.0 WITH LLVM-exception", true),
            ("ISC", false),
            ("Made up", false),
            ("", false),
        ] {
            let problems = check_licences(&[third_party_crate("a", "1.0.0", licence)], &policy);
            assert_eq!(problems.is_empty(), is_allowed, "{licence}: {problems:?}");
        }
    }

    #[test]
    fn crates_io_is_the_only_allowed_source() {
        let lockfile = toml::from_str::<Lockfile>(
            r#"
            [[package]]
            name = "ours"
            [[package]]
            name = "fine"
            source = "registry+https://github.com/rust-lang/crates.io-index"
            [[package]]
            name = "forked"
            source = "git+https://example.test/forked#abc"
            "#,
        )
        .unwrap();
        let problems = check_sources(&lockfile);
        assert_eq!(problems.len(), 1);
        assert!(problems[0].starts_with("forked comes from git+"));
    }

    #[test]
    fn banned_crates_are_reported_with_the_reason() {
        let policy = policy("licences = []\n[banned]\nopenssl = \"rustls instead\"");
        let problems = check_banned(
            &[third_party_crate("openssl", "0.10.1", "MIT"), third_party_crate("ring", "0.17.1", "MIT")],
            &policy,
        );
        assert_eq!(problems, ["openssl 0.10.1 is banned: rustls instead"]);
    }

    #[test]
    fn duplicates_are_compared_with_the_reviewed_list() {
        let list = r#"
            licences = []
            [[duplicate]]
            name = "sha2"
            series = ["0.10", "0.11"]
            reason = "sqlx is behind"
        "#;
        let both = [third_party_crate("sha2", "0.10.9", "MIT"), third_party_crate("sha2", "0.11.1", "MIT")];
        assert_eq!(check_duplicates(&both, &policy(list)), <[String; 0]>::default());

        let removed = check_duplicates(&both[1..], &policy(list));
        assert_eq!(removed, ["sha2 has only one version now; remove it from the list"]);

        let new = check_duplicates(&both, &policy("licences = []"));
        assert_eq!(new.len(), 1);
        assert!(new[0].contains(r#"series = ["0.10", "0.11"]"#), "{}", new[0]);

        let third = [both.as_slice(), &[third_party_crate("sha2", "1.0.0", "MIT")]].concat();
        assert!(check_duplicates(&third, &policy(list))[0].starts_with("sha2 has other versions"));

        let unexplained = check_duplicates(&both, &policy(&list.replace("sqlx is behind", " ")));
        assert_eq!(unexplained, ["the duplicate sha2 is listed without a reason"]);
    }

    #[test]
    fn patch_releases_share_a_series() {
        for (version, expected) in [("0.0.3", "0.0.3"), ("0.10.9", "0.10"), ("2.4.1", "2")] {
            assert_eq!(compatible_series(&version.parse().unwrap()), expected);
        }
    }
}
