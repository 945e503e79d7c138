//! Testing the policy of a table.

use std::collections::BTreeMap;

use axum::{Json, extract::State};
use backend_data::{
    Access, Person, RowResult, RuleResult, RuleTest, RuleTestReport,
    rule::{Action, OperandFinding},
};
use projects::{ClaimNames, ProjectRight, access::Own, person_token::PersonView};
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};
use utoipa::ToSchema;

use super::get_project;
use crate::{
    auth::{Authorized, Console},
    http::{
        error::ApiResult,
        extract::{Path, Payload},
        schemas,
    },
    state::Api,
};
use application::{Problem, authentication::key_access, rows_problem};

/// The request to test.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PolicyTrial {
    #[serde(rename = "as")]
    caller: TrialCaller,
    #[schema(value_type = schemas::backend_data::Action)]
    action: Action,
    /// Row to insert, values of an update, or a row to read or delete that need not exist.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    row: Option<Box<RawValue>>,
    /// Rows to test, as filters of the data API; at most 20 are tested. Default: all rows of the table.
    #[serde(default)]
    #[schema(example = "title=like.Buy*")]
    filter: Option<String>,
}

/// Caller of the test.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(remote = "Self", tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum TrialCaller {
    /// Anybody with a publishable key.
    Visitor,
    /// A signed-in person.
    Person {
        /// Claims of the person's token; `sub` identifies the person.
        #[schema(value_type = Object)]
        claims: BTreeMap<String, Value>,
    },
    /// A server with a secret key.
    Key {
        #[serde(rename = "keyId")]
        key_id: String,
    },
}

kernel::object_only!(TrialCaller);

/// Decision of the policy.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Decision {
    Allow,
    Deny,
}

impl From<bool> for Decision {
    fn from(allowed: bool) -> Self {
        if allowed { Self::Allow } else { Self::Deny }
    }
}

/// The result of a policy test.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PolicyVerdict {
    /// `allow` if at least one row is allowed.
    decision: Decision,
    /// Id of the rule that decides; null if none does.
    #[schema(required)]
    rule: Option<String>,
    /// Reason, as a sentence.
    reason: String,
    /// Result of every rule of the table.
    rules: Vec<TriedRule>,
    /// Result of every row that was tested.
    rows: Vec<TriedRow>,
}

/// The result of a rule.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TriedRule {
    id: String,
    /// `true` if the rule is about this caller, this action and these columns.
    applies: bool,
    /// Number of rows that meet the rule's condition; null if the rule does not apply.
    #[schema(required)]
    matched: Option<u64>,
    /// Reason why the rule does not allow the request.
    #[schema(required)]
    reason: Option<String>,
    /// Values of the caller that the rule's conditions compare columns to, in the order of the conditions; empty if the rule
    /// does not apply.
    conditions: Vec<TriedCondition>,
}

/// A value that depends on the caller, of a condition of a rule.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TriedCondition {
    /// Column that the value is compared to.
    column: String,
    /// Description of the value, or of why there is none.
    #[schema(example = "the token has no claim org")]
    finding: String,
}

/// The result of a row.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TriedRow {
    id: String,
    decision: Decision,
    #[schema(required)]
    rule: Option<String>,
}

impl From<RuleTestReport> for PolicyVerdict {
    fn from(verdict: RuleTestReport) -> Self {
        let condition = |OperandFinding { column, finding, .. }| TriedCondition { column, finding };
        let rule = |RuleResult { id, applies, matched, reason, conditions }| {
            let conditions = conditions.into_iter().map(condition).collect();
            TriedRule { id, applies, matched, reason, conditions }
        };
        let row = |RowResult { id, allowed, rule }| TriedRow { id, decision: allowed.into(), rule };
        Self {
            decision: verdict.allowed.into(),
            rule: verdict.rule,
            reason: verdict.reason,
            rules: verdict.rules.into_iter().map(rule).collect(),
            rows: verdict.rows.into_iter().map(row).collect(),
        }
    }
}

/// Test the policy of a backend project's table
///
/// Tests as a visitor, a signed-in person or a key. Nothing is written: an update is tested against the rows before and
/// after it.
#[utoipa::path(
    post, path = "/v1/backend/projects/{projectId}/tables/{table}/policy/test", tag = "backend-console",
    params(
        ("projectId" = kernel::id::ProjectId, Path, description = "The project."),
        ("table" = schemas::backend_data::TableName, Path, description = "The table.")
    ),
    request_body(
        content = PolicyTrial,
        example = json!({
            "as": {"kind": "person", "claims": {"sub": "ann", "role": "clerk"}},
            "action": "read",
            "filter": "title=like.Buy*"
        })
    ),
    responses((status = 200, body = PolicyVerdict))
)]
pub(crate) async fn test_table_policy(
    State(api): State<Api>,
    Authorized(_ctx, right): Authorized<Console, ProjectRight<Own>>,
    Path((_project, table)): Path<(String, String)>,
    payload: Payload,
) -> ApiResult<Json<PolicyVerdict>> {
    let found = get_project(&api, &right).await?.project;
    let project_ref = api.project_ref(&found).await?;
    let tables = api.rows().schema(&project_ref, &Access::Owner).await.map_err(rows_problem)?;
    if !tables.iter().any(|known| known.name == table) {
        return Err(Problem::not_found("table").into());
    }
    let PolicyTrial { caller, action, row, filter } = payload.json()?;
    let access = match caller {
        TrialCaller::Visitor => Access::Visitor,
        TrialCaller::Person { claims } => {
            let names = ClaimNames::of(found.settings.identity.as_ref());
            let PersonView { subject, roles, claims } = names.read(claims);
            Access::Person(Person { subject, roles, claims })
        }
        TrialCaller::Key { key_id } => get_key_access(&api, &right, &key_id).await?,
    };
    let filter = filter.unwrap_or_default();
    let trial = RuleTest { action, row: row.as_deref().map(|row| row.get().as_bytes()), filter: &filter };
    let verdict = api.rows().test_rules(&project_ref, &access, &table, &trial).await;
    Ok(Json(verdict.map_err(rows_problem)?.into()))
}

async fn get_key_access(api: &Api, right: &ProjectRight<Own>, id: &str) -> Result<Access, Problem> {
    let keys = api.store().project_keys(right.member().workspace(), right.project()).await?;
    let found = keys.iter().find(|key| key.id.to_string() == id && key.revoked_at.is_none());
    found.map(key_access).ok_or_else(|| Problem::not_found("key"))
}
