//! `explain_run`: explains the outcome of a run, and what can be done.

use application::{Application, Problem};
use kernel::{Context, Locale};
use rmcp::model::{JsonObject, Tool};
use runs::diagnosis::{Fix, diagnose};
use serde::Deserialize;
use serde_json::{Value, json};

use super::UNTRUSTED_CONTENT_NOTICE;

pub(super) const NAME: &str = "explain_run";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    run_id: String,
    locale: Option<Locale>,
}

pub(super) fn definition() -> Tool {
    super::read_only_tool(
        NAME,
        "Explain a run",
        "Explains a run by rules: what happened, why, what changed since the last successful run, and what can be done, with \
         the log lines that support it.",
        json!({
            "runId": { "type": "string", "description": "Id of the run, from list_runs." },
            "locale": {
                "type": "string", "enum": ["en", "ru", "kk"],
                "description": "Language of the sentences. Default: the workspace's.",
            },
        }),
        &["runId"],
    )
}

pub(super) async fn call(app: &Application, ctx: &Context, arguments: JsonObject) -> Result<Value, Problem> {
    let arguments: Arguments = super::parse_arguments(arguments)?;
    let (id, access) = app.run(ctx, &arguments.run_id).await?;
    let locale = app.resolve_locale(access.member().workspace(), arguments.locale).await?;
    let facts = app.diagnosis_facts(&access, id, locale).await?;
    let found = diagnose(&facts, locale);
    Ok(json!({
        "runId": id,
        "status": facts.run.state.status(),
        "locale": locale,
        "source": "rules",
        "failureClass": found.class,
        "confidence": found.confidence,
        "what": found.explanation.what,
        "why": found.explanation.why,
        "next": found.explanation.next,
        "evidence": found.evidence,
        "lastGoodRunId": facts.last_good.as_ref().map(|good| good.id),
        "versionChanged": facts.has_version_changed(),
        "codeChanged": facts.has_code_changed,
        "differences": facts.differences,
        "fix": found.fix.as_ref().map(fix_to_json),
        "untrusted": { "why": UNTRUSTED_CONTENT_NOTICE, "evidence": UNTRUSTED_CONTENT_NOTICE },
    }))
}

fn fix_to_json(fix: &Fix) -> Value {
    match fix {
        Fix::AllowEgress(domain) => json!({ "kind": fix.kind(), "domain": domain }),
        Fix::Reconnect(Some(connection)) => json!({ "kind": fix.kind(), "connectorId": connection }),
        Fix::Rollback { version, number } => {
            json!({ "kind": fix.kind(), "versionId": version, "versionNumber": number })
        }
        _ => json!({ "kind": fix.kind() }),
    }
}
