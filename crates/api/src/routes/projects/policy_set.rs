//! Setting the policy of a table.

use axum::{
    Json,
    extract::State,
    response::{IntoResponse as _, Response},
};
use backend_data::{Access, Rule, Table};
use projects::{ProjectRight, access::Own};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::{audit_entry, project_ref, table_precondition::with_table_if_match};
use crate::{
    auth::{Authorized, Console},
    http::{
        conditional::IfMatch,
        error::ApiResult,
        extract::{Path, Payload},
        schemas,
        table_view::table_tag,
    },
    state::Api,
};
use application::{Problem, rows_problem};

/// The policy of a table, as rules or as sentences.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewPolicy {
    /// Rules as trees. Their `sentence` is ignored.
    #[serde(default)]
    #[schema(max_items = 16, value_type = Option<Vec<schemas::backend_data::Rule>>)]
    rules: Option<Vec<Rule>>,
    /// Rules as sentences, as in `sentence`.
    #[serde(default)]
    #[schema(max_items = 16, example = json!(["Signed-in people may read every row."]))]
    sentences: Option<Vec<String>>,
}

/// The policy of a table, as rules and as sentences.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Policy {
    #[schema(max_items = 16, value_type = Vec<schemas::backend_data::Rule>)]
    rules: Vec<Rule>,
    /// Full sentence of each rule, in the same order. The `sentence` of a rule ends after 400 characters.
    sentences: Vec<String>,
}

/// Set the policy of a backend project's table
///
/// The rules replace all rules of the table. Send them as trees or as sentences; the response has both. A rule from a
/// sentence keeps the id of the existing rule with the same sentence. The tag in `If-Match` and in the response is that of
/// the table.
#[utoipa::path(
    put, path = "/v1/backend/projects/{projectId}/tables/{table}/policy", tag = "backend-console",
    params(
        ("projectId" = kernel::id::ProjectId, Path, description = "The project."),
        ("table" = schemas::backend_data::TableName, Path, description = "The table."),
        IfMatch
    ),
    request_body(
        content = NewPolicy,
        examples(
            ("sentences" = (
                summary = "As sentences",
                value = json!({"sentences": ["Signed-in people may read every row."]})
            )),
            ("rules" = (
                summary = "As trees",
                value = json!({
                    "rules": [{
                        "id": "readers",
                        "audience": {"kind": "role", "role": "editor"},
                        "actions": ["read", "update"],
                        "where": {
                            "t": "cmp",
                            "column": "title",
                            "op": "neq",
                            "value": {"k": "lit", "v": "secret"}
                        },
                        "columns": ["title"]
                    }]
                })
            ))
        )
    ),
    responses((status = 200, body = Policy))
)]
pub(crate) async fn set_table_policy(
    State(api): State<Api>,
    Authorized(ctx, right): Authorized<Console, ProjectRight<Own>>,
    Path((_, table)): Path<(String, String)>,
    if_match: IfMatch,
    payload: Payload,
) -> ApiResult<Response> {
    let project_ref = project_ref(&api, &right).await?;
    let tables = api.rows().schema(&project_ref, &Access::Owner).await.map_err(rows_problem)?;
    let known = tables.into_iter().find(|known| known.name == table);
    let known = known.ok_or_else(|| Problem::not_found("table"))?;
    let NewPolicy { rules, sentences } = payload.json()?;
    let rules = match (rules, sentences) {
        (Some(rules), None) => rules,
        (None, Some(sentences)) => from_sentences(&known, &sentences)?,
        _ => return Err(Problem::invalid("Send either `rules` or `sentences`.").into()),
    };
    let said: Vec<String> = rules.iter().map(Rule::to_full_sentence).collect();
    let detail = json!({ "table": table, "rules": said });
    let recording = api.audited_rows([audit_entry(&ctx, "table.policy", &right, detail)])?;
    let recording = with_table_if_match(&recording, if_match);
    let set = recording.set_rules(&project_ref, &Access::Owner, &table, rules).await.map_err(rows_problem)?;
    let tag = table_tag(&set)?;
    let Table { rules, .. } = set;
    let sentences: Vec<String> = rules.iter().map(Rule::to_full_sentence).collect();
    api.deliver_outbox(&project_ref).await;
    let mut response = Json(Policy { rules, sentences }).into_response();
    tag.insert_into(&mut response);
    Ok(response)
}

fn from_sentences(table: &Table, sentences: &[String]) -> Result<Vec<Rule>, Problem> {
    let mut rules: Vec<Rule> = Vec::with_capacity(sentences.len());
    for sentence in sentences {
        let taken = |id: &str| rules.iter().any(|rule| rule.id == id);
        let said = sentence.trim();
        let says = |rule: &Rule| rule.sentence == said || rule.to_full_sentence() == said;
        let before = table.rules.iter().find(|rule| says(rule) && !taken(&rule.id));
        if let Some(before) = before {
            // Also if the sentence in the request was cut off.
            rules.push(before.clone());
            continue;
        }
        let unused = |id: &String| !taken(id) && !table.rules.iter().any(|rule| rule.id == *id);
        let fresh = || (1..).map(|number| format!("rule_{number}")).find(unused).unwrap_or_default();
        rules.push(Rule::from_sentence(&fresh(), sentence).map_err(rows_problem)?);
    }
    Ok(rules)
}
