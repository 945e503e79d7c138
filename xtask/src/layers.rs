//! `cargo xtask layers`: which crate may depend on which, which file of a crate may import from which, and where SQL may
//! stand as text.
//!
//! Only direct arrows are looked at. That is enough: every crate on a path is under its own rule, so a forbidden crate
//! cannot hide behind an allowed one. The exception is what a library for others brings along: of that, the whole tree.

mod circles;
mod floors;
mod imports;
mod raw_statements;
mod request_bodies;
mod stale_proofs;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::PathBuf,
};

use anyhow::{Context as _, Result, bail};
use cargo_metadata::DependencyKind;
use toml::{Table, Value};
use xtask::{shell, workspace::Workspace};

/// Purpose of a crate of ours. The order of the layers is in [`Layer::may_use`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layer {
    /// The words every domain shares.
    Kernel,
    /// Rules and use cases of one subject.
    Domain,
    /// Backend data: a domain that is also a library for others, so it stands alone.
    StandaloneDomain,
    /// An implementation of domain ports on some outside thing.
    Adapter,
    /// A mechanism that adapters are built on, with a contract of its own: it knows none of our words.
    AdapterLibrary,
    /// The database's schema.
    Migrations,
    /// Logic that the surfaces share: authentication, authorisation, limits, use cases over several domains.
    Application,
    /// Interfaces to the outside: HTTP, agents, the console, the command line.
    Surface,
    /// Background loops over use cases.
    Workers,
    /// The binary, which wires everything.
    Binary,
    /// Developer tools and black-box suites; nothing ships from here.
    Tooling,
}

impl Layer {
    fn of(crate_name: &str) -> Option<Self> {
        Some(match crate_name {
            "kernel" => Self::Kernel,
            "identity" | "workspace" | "apps" | "connections" | "projects" | "runs" | "observability"
            | "imports" | "models" => Self::Domain,
            "backend-data" => Self::StandaloneDomain,
            "migrations" => Self::Migrations,
            "application" => Self::Application,
            "caller-cache" | "group-commit" | "process-snapshot" | "span-macros" | "type-stripper" => {
                Self::AdapterLibrary
            }
            "api" | "mcp" | "console" | "cli" => Self::Surface,
            "workers" => Self::Workers,
            "qala" => Self::Binary,
            "bench" | "tests" | "xtask" => Self::Tooling,
            name if name.starts_with("adapter-") => Self::Adapter,
            _ => return None,
        })
    }

    /// The one table of arrows between our own crates.
    fn may_use(self, other: Self) -> bool {
        match self {
            Self::Kernel | Self::StandaloneDomain | Self::AdapterLibrary => false,
            Self::Domain | Self::Migrations => other == Self::Kernel,
            Self::Adapter => {
                matches!(
                    other,
                    Self::Kernel
                        | Self::Domain
                        | Self::StandaloneDomain
                        | Self::Migrations
                        | Self::AdapterLibrary
                )
            }
            Self::Workers => matches!(other, Self::Kernel | Self::Domain | Self::StandaloneDomain),
            Self::Application => matches!(other, Self::Kernel | Self::Domain | Self::StandaloneDomain),
            Self::Surface => {
                matches!(other, Self::Kernel | Self::Domain | Self::StandaloneDomain | Self::Application)
            }
            Self::Binary => !matches!(other, Self::Tooling | Self::AdapterLibrary),
            Self::Tooling => true,
        }
    }

    /// Outside crates that this layer must not name, and why.
    fn banned(self) -> Option<(&'static [&'static str], &'static str)> {
        match self {
            Self::Kernel | Self::Domain | Self::StandaloneDomain => Some((
                &[
                    "tokio",
                    "axum",
                    "hyper",
                    "sea-orm",
                    "sqlx",
                    "rusqlite",
                    "reqwest",
                    "rquickjs",
                    "tower",
                    "tower-http",
                    "hyper-util",
                ],
                "domain crates hold rules and ports; runtimes, servers and databases belong to adapters",
            )),
            Self::Application => Some((
                &[
                    "axum",
                    "hyper",
                    "tower",
                    "tower-http",
                    "sea-orm",
                    "sqlx",
                    "rusqlite",
                    "reqwest",
                    "rquickjs",
                ],
                "the application knows neither HTTP nor SQL; surfaces and adapters do",
            )),
            Self::Surface => Some((
                &["sea-orm", "sqlx", "rusqlite", "reqwest", "rquickjs"],
                "a surface knows HTTP and JSON; what it needs from outside it asks for through a domain port",
            )),
            Self::Workers => Some((
                &["axum", "hyper", "sea-orm", "sqlx", "rusqlite", "reqwest", "rquickjs"],
                "a background loop calls use cases; what it needs from outside it asks for through a domain port",
            )),
            Self::Adapter | Self::AdapterLibrary | Self::Migrations | Self::Binary | Self::Tooling => None,
        }
    }

    fn rule(self) -> &'static str {
        match self {
            Self::Kernel => "kernel depends on no crate of ours",
            Self::Domain => "a domain crate depends on kernel only",
            Self::StandaloneDomain => "backend-data is a library for others and depends on no crate of ours",
            Self::Adapter => {
                "an adapter depends on kernel, domain crates, migrations and the libraries of adapters only"
            }
            Self::AdapterLibrary => {
                "caller-cache, group-commit, process-snapshot, span-macros and type-stripper depend on no crate of ours"
            }
            Self::Migrations => "migrations depend on kernel only",
            Self::Application => "application depends on kernel and domain crates only",
            Self::Surface => {
                "api, mcp, console and cli depend on application, kernel and domain crates, not on each other"
            }
            Self::Workers => "workers depend on kernel and domain crates only",
            Self::Binary => "the binary does not depend on developer tools or on the libraries of adapters",
            Self::Tooling => "developer tools may depend on anything",
        }
    }
}

/// Outside crates that only the named crates of ours may use (the binary always may).
const RESTRICTED_CRATES: [(&[&str], &[&str]); 6] = [
    (&["sea-orm"], &["adapter-store", "adapter-rows", "migrations"]),
    // `tests` makes and drops throwaway databases, `bench` fills one.
    (&["sqlx"], &["adapter-store", "adapter-rows", "migrations", "tests", "bench"]),
    (&["reqwest"], &["adapter-gate", "adapter-oidc"]),
    (&["rquickjs"], &["adapter-runtime", "process-snapshot"]),
    (&["oxc_parser"], &["type-stripper"]),
    // Domain types are described in `api`. `kernel` describes its own, which nearly every route has, if `api` asks for it.
    (&["utoipa", "utoipa-axum"], &["api", "kernel"]),
];

/// One crate of ours with what it declares.
#[derive(Debug, Clone)]
struct Member {
    name: String,
    /// Normal and build dependencies; what tests use besides is their own affair.
    dependencies: BTreeSet<String>,
    manifest: Table,
    /// Its folder `src`.
    source: PathBuf,
}

/// A broken rule.
#[derive(Debug, PartialEq, Eq)]
struct Violation {
    subject: String,
    rule: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n    {}", self.subject, self.rule)
    }
}

/// Fails when an arrow points the wrong way or a manifest goes its own way.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let members = read_members(workspace)?;
    let mut violations = check(&members);
    let alone = members.iter().filter(|it| Layer::of(&it.name) == Some(Layer::StandaloneDomain));
    for member in alone {
        check_dependency_tree(&member.name, &dependency_tree(workspace, &member.name)?, &mut violations);
    }
    for member in members.iter().filter(|it| Layer::of(&it.name) != Some(Layer::Tooling)) {
        check_modules(member, &mut violations)?;
    }
    let mut sources = BTreeMap::new();
    for member in members.iter().filter(|it| stale_proofs::CRATES.contains(&it.name.as_str())) {
        stale_proofs::read(&member.source, &member.name, &mut sources)?;
    }
    violations.extend(stale_proofs::check(&sources).into_iter().map(|subject| Violation {
        subject,
        rule: "a right that was proven before a wait is proven again in the transaction (lock_app, lock_member)"
            .to_owned(),
    }));
    violations.extend(request_bodies::check(&sources).into_iter().map(|subject| Violation {
        subject,
        rule: "a body is received by read_body, Payload, Form, Spool or late_proof::receive, which prove the caller's rights after it"
            .to_owned(),
    }));
    if violations.is_empty() {
        println!("layers: {} crates, every arrow points the right way, no file in a circle", members.len());
        return Ok(());
    }
    for violation in &violations {
        println!("layers: {violation}");
    }
    bail!("{} broken layer rules", violations.len())
}

fn read_members(workspace: &Workspace) -> Result<Vec<Member>> {
    let metadata = workspace.members()?;
    metadata
        .packages
        .iter()
        .map(|package| {
            let manifest = workspace.read(&package.manifest_path)?;
            let normal = package.dependencies.iter().filter(|it| it.kind != DependencyKind::Development);
            Ok(Member {
                name: package.name.to_string(),
                dependencies: normal.map(|dependency| dependency.name.clone()).collect(),
                manifest: manifest.parse().with_context(|| format!("in {}", package.manifest_path))?,
                source: package.manifest_path.with_file_name("src").into_std_path_buf(),
            })
        })
        .collect()
}

/// Checks which file of a crate imports from which.
fn check_modules(member: &Member, violations: &mut Vec<Violation>) -> Result<()> {
    let imports = imports::read(&member.source)?;
    let circles = circles::find(&imports);
    for circle in &circles {
        let names = circle.iter().map(|module| module.join("::")).collect::<Vec<_>>();
        violations.push(Violation {
            subject: format!("{}: {}", member.name, names.join(", ")),
            rule: "these files import from each other in a circle".to_owned(),
        });
    }
    for floors in floors::FLOORS.iter().filter(|floors| floors.crate_name == member.name) {
        violations.extend(floors.check(&imports).into_iter().map(|subject| Violation {
            subject: format!("{}: {subject}", member.name),
            rule: "a file imports from its own floor and those below".to_owned(),
        }));
    }
    for rule in raw_statements::RAW_STATEMENTS.iter().filter(|rule| rule.crate_name == member.name) {
        violations.extend(rule.check(&member.source)?.into_iter().map(|subject| Violation {
            subject: format!("{}: {subject}", member.name),
            rule: "use the builder; text of SQL is for the queue and the group commit, and for what is listed in \
                   RAW_STATEMENTS"
                .to_owned(),
        }));
    }
    Ok(())
}

/// Every crate that a build of this one compiles, with all of its features.
fn dependency_tree(workspace: &Workspace, name: &str) -> Result<String> {
    let mut cargo = shell::cargo(workspace);
    cargo.args(["tree", "--package", name, "--edges", "normal", "--all-features", "--prefix", "none"]);
    shell::output(cargo.args(["--format", "{p}"]))
}

/// A library for others brings no runtime, server or database along, not even through another crate.
fn check_dependency_tree(name: &str, tree: &str, violations: &mut Vec<Violation>) {
    let Some((banned, why)) = Layer::StandaloneDomain.banned() else { return };
    let found = tree.lines().filter_map(|line| line.split_whitespace().next()).collect::<BTreeSet<_>>();
    for used in found.iter().filter(|used| banned.contains(used)) {
        violations.push(Violation { subject: format!("{name} -> … -> {used}"), rule: why.to_owned() });
    }
}

fn check(members: &[Member]) -> Vec<Violation> {
    let mut violations = Vec::new();
    let ours = members.iter().map(|member| member.name.as_str()).collect::<BTreeSet<_>>();
    for member in members {
        match Layer::of(&member.name) {
            Some(layer) => check_dependencies(member, layer, &ours, &mut violations),
            None => violations.push(Violation {
                subject: format!("{} has no layer", member.name),
                rule: "name every new crate in Layer::of".to_owned(),
            }),
        }
        check_manifest(member, &mut violations);
    }
    violations
}

fn check_dependencies(member: &Member, layer: Layer, ours: &BTreeSet<&str>, violations: &mut Vec<Violation>) {
    for used in &member.dependencies {
        let mut forbid = |rule: String| {
            violations.push(Violation { subject: format!("{} -> {used}", member.name), rule });
        };
        if ours.contains(used.as_str()) {
            // A crate without a layer is reported by itself.
            if Layer::of(used).is_some_and(|other| !layer.may_use(other)) {
                forbid(layer.rule().to_owned());
            }
            continue;
        }
        if let Some((banned, why)) = layer.banned()
            && banned.contains(&used.as_str())
        {
            forbid(why.to_owned());
            continue;
        }
        for (wrapped, holders) in RESTRICTED_CRATES {
            if wrapped.contains(&used.as_str())
                && layer != Layer::Binary
                && !holders.contains(&member.name.as_str())
            {
                forbid(format!("only {} may use it", holders.join(", ")));
            }
        }
    }
}

fn check_manifest(member: &Member, violations: &mut Vec<Violation>) {
    let mut require = |what: &str, kept: bool, rule: &str| {
        if !kept {
            violations.push(Violation { subject: format!("{}: {what}", member.name), rule: rule.to_owned() });
        }
    };
    require(
        "[lints]",
        inherits(member.manifest.get("lints")),
        "a crate inherits the lints: workspace = true",
    );
    for key in ["version", "edition"] {
        let field = member.manifest.get("package").and_then(|package| package.get(key));
        require(key, inherits(field), "a crate inherits it: .workspace = true");
    }
    let targets = member.manifest.get("target").and_then(Value::as_table);
    let tables =
        targets.into_iter().flat_map(Table::values).filter_map(Value::as_table).chain([&member.manifest]);
    for table in tables {
        for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
            for (name, value) in table.get(kind).and_then(Value::as_table).into_iter().flatten() {
                let rule =
                    "a dependency is declared once, in the root manifest, and inherited: workspace = true";
                require(&format!("{kind}.{name}"), inherits(Some(value)), rule);
            }
        }
    }
}

fn inherits(value: Option<&Value>) -> bool {
    value.and_then(|value| value.get("workspace")).and_then(Value::as_bool) == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str, uses: &[&str]) -> Member {
        let manifest =
            "package = { version.workspace = true, edition.workspace = true }\nlints.workspace = true";
        Member {
            name: name.to_owned(),
            dependencies: uses.iter().map(ToString::to_string).collect(),
            manifest: manifest.parse().unwrap(),
            source: PathBuf::new(),
        }
    }

    /// A house in order, with one crate's dependencies replaced.
    fn workspace_with(name: &str, uses: &[&str]) -> Vec<Member> {
        let mut members = vec![
            member("kernel", &["serde", "uuid"]),
            member("runs", &["kernel", "serde"]),
            member("apps", &["kernel"]),
            member("backend-data", &["serde"]),
            member("migrations", &["sea-orm"]),
            member(
                "adapter-store",
                &["kernel", "runs", "apps", "migrations", "caller-cache", "group-commit", "sea-orm", "tokio"],
            ),
            member("adapter-gate", &["runs", "reqwest"]),
            member("adapter-runtime", &["runs", "process-snapshot", "rquickjs"]),
            member("caller-cache", &["moka", "tokio"]),
            member("group-commit", &["tokio"]),
            member("process-snapshot", &["rquickjs", "tokio"]),
            member("workers", &["runs", "tokio"]),
            member("api", &["runs", "axum", "tokio"]),
            member("qala", &["api", "workers", "adapter-store", "adapter-gate", "sqlx"]),
            member("tests", &["sqlx"]),
        ];
        members.retain(|member| member.name != name);
        members.push(member(name, uses));
        members
    }

    #[test]
    fn a_house_in_order_passes() {
        assert_eq!(check(&workspace_with("observability", &["kernel"])), []);
    }

    #[test]
    fn arrows_that_point_the_wrong_way_are_named() {
        for (from, to) in [
            ("kernel", "runs"),
            ("kernel", "tokio"),
            ("runs", "apps"),
            ("runs", "tokio"),
            ("runs", "sea-orm"),
            ("runs", "adapter-store"),
            ("runs", "utoipa"),
            ("backend-data", "kernel"),
            ("backend-data", "rusqlite"),
            ("backend-data", "utoipa"),
            ("application", "utoipa"),
            ("adapter-gate", "adapter-store"),
            ("adapter-gate", "api"),
            ("adapter-gate", "sqlx"),
            ("adapter-store", "reqwest"),
            ("adapter-gate", "rquickjs"),
            ("process-snapshot", "kernel"),
            ("process-snapshot", "adapter-runtime"),
            ("caller-cache", "kernel"),
            ("group-commit", "kernel"),
            ("group-commit", "caller-cache"),
            ("group-commit", "sqlx"),
            ("runs", "group-commit"),
            ("application", "caller-cache"),
            ("workers", "process-snapshot"),
            ("qala", "process-snapshot"),
            ("migrations", "runs"),
            ("workers", "adapter-store"),
            ("workers", "api"),
            ("workers", "axum"),
            ("api", "adapter-gate"),
            ("api", "workers"),
            ("api", "sqlx"),
            ("api", "reqwest"),
            ("qala", "tests"),
            ("tests", "sea-orm"),
        ] {
            let violations = check(&workspace_with(from, &[to]));
            assert_eq!(violations.len(), 1, "{from} -> {to}: {violations:?}");
            assert_eq!(violations[0].subject, format!("{from} -> {to}"));
        }
    }

    #[test]
    fn what_a_library_for_others_brings_along_is_looked_at_in_depth() {
        let named = |tree: &str| {
            let mut violations = Vec::new();
            check_dependency_tree("backend-data", tree, &mut violations);
            violations.into_iter().map(|violation| violation.subject).collect::<Vec<_>>()
        };
        assert!(named("backend-data v0.1.0 (/qala)\nserde v1.0.0\ntokio-ish v1.0.0\n").is_empty());
        let tree = "backend-data v0.1.0 (/qala)\nmoka v1.0.0\ntokio v1.0.0\ntokio v1.0.0 (*)\n";
        assert_eq!(named(tree), ["backend-data -> … -> tokio"]);
    }

    #[test]
    fn a_crate_nobody_placed_is_reported() {
        let violations = check(&workspace_with("attic", &[]));
        assert_eq!(violations.len(), 1);
        assert_eq!(violations[0].subject, "attic has no layer");
    }

    #[test]
    fn manifests_inherit_from_the_workspace() {
        let mut runs = member("runs", &[]);
        runs.manifest = r#"
            [package]
            version = "0.1.0"
            edition.workspace = true
            [dependencies]
            serde.workspace = true
            bytes = "1"
            [target.'cfg(unix)'.dev-dependencies]
            uuid = { version = "1" }
        "#
        .parse()
        .unwrap();
        let violations = check(&[runs]);
        let whats = violations.iter().map(|violation| violation.subject.as_str()).collect::<BTreeSet<_>>();
        let expected =
            ["runs: [lints]", "runs: dependencies.bytes", "runs: dev-dependencies.uuid", "runs: version"];
        assert_eq!(whats, BTreeSet::from(expected));
    }
}
