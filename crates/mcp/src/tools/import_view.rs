//! Reports on exports as agents read them.

use imports::{Grade, Report};
use serde_json::{Value, json};

/// Most steps of a response that are kept as they are; agents read about the others.
const MAX_EXACT: usize = 20;

/// Returns what an agent needs of a report: the sentences, the steps that are not kept as they are, and what is missing.
pub(super) fn view(report: &Report) -> Value {
    let mut exact = 0;
    let is_told = |item: &&imports::report::ReportItem| match item.grade {
        Grade::Ignored => false,
        Grade::Exact => {
            exact += 1;
            exact <= MAX_EXACT
        }
        Grade::Partial | Grade::Unsupported => true,
    };
    let items: Vec<Value> = report
        .items
        .iter()
        .filter(is_told)
        .map(|item| {
            json!({
                "id": item.id, "name": item.name, "type": item.kind, "grade": item.grade,
                "needsConnection": item.needs_connection, "step": item.step, "sentence": item.sentence,
            })
        })
        .collect();
    json!({
        "name": report.name, "format": report.format, "starts": report.starts, "canCreate": report.can_create,
        "sentences": report.sentences, "warnings": report.warnings, "totals": report.totals, "items": items,
        "connections": report.connections, "secrets": report.secrets.len(),
        "notice": super::UNTRUSTED_CONTENT_NOTICE,
    })
}
