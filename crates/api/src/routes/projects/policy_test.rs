//! Trying the rules of a table.

use std::collections::BTreeMap;

use axum::{Json, extract::State};
use backend_data::{Access, Person, RowResult, RuleResult, RuleTest, RuleTestReport, rule::Action};
use kernel::Problem;
use projects::{ProjectRight, access::Own};
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};
use utoipa::ToSchema;

use super::get_project;
use crate::{
    auth::{Authorized, Console},
    http::{
        error::ApiResult,
        extract::{Path, Payload},
    },
    state::Api,
};
use application::{authentication::key_access, rows_problem, sample_data};

/// What is to be tried.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PolicyTrial {
    #[serde(rename = "as")]
    caller: TrialCaller,
    action: Action,
    /// The row to insert, what an update sets, or a row to be read or deleted that need not be there.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    row: Option<Box<RawValue>>,
    /// Which rows are meant, as filters of the data API; at most 20 are tried, and all of the table where nothing is said.
    #[serde(default)]
    #[schema(example = "title=like.Buy*")]
    filter: Option<String>,
}

/// As whom.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(remote = "Self", tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum TrialCaller {
    /// Anyone with the publishable key.
    Visitor,
    /// A signed-in person.
    Person {
        /// The claims of the person's token; `sub` says who it is.
        #[schema(value_type = Object)]
        claims: BTreeMap<String, Value>,
    },
    /// A server with a key.
    Key {
        #[serde(rename = "keyId")]
        key_id: String,
    },
}

kernel::object_only!(TrialCaller);

/// Whether something is allowed.
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

/// What came of it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PolicyVerdict {
    /// Whether it is allowed, for one row at least.
    decision: Decision,
    /// The id of the rule that decides; null where none does.
    #[schema(required)]
    rule: Option<String>,
    /// Why, in one sentence.
    reason: String,
    /// Every rule of the table.
    rules: Vec<TriedRule>,
    /// Every row that was tried.
    rows: Vec<TriedRow>,
}

/// What one rule says.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TriedRule {
    id: String,
    /// Whether it speaks of this caller, this action and these columns.
    applies: bool,
    /// How many of the rows meet its condition; null where it does not apply.
    #[schema(required)]
    matched: Option<u64>,
    /// Why it does not allow it.
    #[schema(required)]
    reason: Option<String>,
}

/// What holds for one row.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TriedRow {
    id: String,
    decision: Decision,
    #[schema(required)]
    rule: Option<String>,
}

impl From<RuleTestReport> for PolicyVerdict {
    fn from(verdict: RuleTestReport) -> Self {
        let rule = |RuleResult { id, applies, matched, reason }| TriedRule { id, applies, matched, reason };
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

/// Try the rules of a backend project's table
///
/// As a visitor, a signed-in person or a key. Nothing is written: an update is asked about rows as they are and as they
/// would become.
#[utoipa::path(post, path = "/v1/backend/projects/{projectId}/tables/{table}/policy/test", tag = "backend-console", params(("projectId" = kernel::id::ProjectId, Path, description = "The project."), ("table" = backend_data::TableName, Path, description = "The table.")), request_body(content = PolicyTrial, example = json!({"as": {"kind": "person", "claims": {"sub": "ann", "role": "clerk"}}, "action": "read", "filter": "title=like.Buy*"})), responses((status = 200, body = PolicyVerdict)))]
pub(crate) async fn test_table_policy(
    State(api): State<Api>,
    Authorized(_ctx, right): Authorized<Console, ProjectRight<Own>>,
    Path((_project, table)): Path<(String, String)>,
    payload: Payload,
) -> ApiResult<Json<PolicyVerdict>> {
    let found = get_project(&api, &right).await?.project;
    let project_ref = sample_data::project_ref(found.id, found.shard)?;
    let tables = api.rows().schema(&project_ref, &Access::Owner).await.map_err(rows_problem)?;
    if !tables.iter().any(|known| known.name == table) {
        return Err(Problem::not_found("table").into());
    }
    let PolicyTrial { caller, action, row, filter } = payload.json()?;
    let access = match caller {
        TrialCaller::Visitor => Access::Visitor,
        TrialCaller::Person { claims } => {
            let role_claim = found.settings.identity.as_ref().map_or("role", |identity| &identity.role_claim);
            person_access(claims, role_claim)
        }
        TrialCaller::Key { key_id } => get_key_access(&api, &right, &key_id).await?,
    };
    let filter = filter.unwrap_or_default();
    let trial = RuleTest { action, row: row.as_deref().map(|row| row.get().as_bytes()), filter: &filter };
    let verdict = api.rows().test_rules(&project_ref, &access, &table, &trial).await;
    Ok(Json(verdict.map_err(rows_problem)?.into()))
}

fn person_access(claims: BTreeMap<String, Value>, role_claim: &str) -> Access {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let roles = match claims.get(role_claim) {
        Some(Value::Array(roles)) => roles.iter().filter_map(text).collect(),
        Some(role) => text(role).into_iter().collect(),
        None => Vec::new(),
    };
    let subject = claims.get("sub").and_then(text).unwrap_or_default();
    Access::Person(Person { subject, roles, claims })
}

async fn get_key_access(api: &Api, right: &ProjectRight<Own>, id: &str) -> Result<Access, Problem> {
    let keys = api.store().project_keys(right.member().workspace(), right.project()).await?;
    let found = keys.iter().find(|key| key.id.to_string() == id && key.revoked_at.is_none());
    found.map(key_access).ok_or_else(|| Problem::not_found("key"))
}
