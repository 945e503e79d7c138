//! Changing the settings of a backend project.

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicBool, Ordering},
};

use axum::extract::State;
use backend_data::Access;
use projects::{NewIdentityProvider, ProjectRight, SettingsChange, access::Own, projects::change_settings};
use serde::{Deserialize, Deserializer};
use serde_json::json;
use utoipa::ToSchema;

use super::{audit_entry, get_project, project_ref, view::ProjectView};
use crate::{
    auth::{Authorized, Console},
    http::{
        conditional::{IfMatch, Tagged},
        error::ApiResult,
        extract::Payload,
        schemas,
    },
    state::Api,
};
use application::{Problem, rows_problem, unit};

/// Changes. Fields that you do not send stay as they are.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ChangeProjectSettings {
    /// Requests per minute with one key.
    #[serde(default)]
    #[schema(minimum = 10, maximum = 100_000)]
    rate_limit_per_min: Option<u32>,
    /// Requests per minute from one address.
    #[serde(default)]
    #[schema(minimum = 10, maximum = 100_000)]
    ip_rate_per_min: Option<u32>,
    /// Maximum size of a request body, in KiB.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 1_024)]
    max_body_kb: Option<u32>,
    /// Origins whose pages may call the data API.
    #[serde(default)]
    #[schema(max_items = 20, example = json!(["https://shop.example"]))]
    allowed_origins: Option<Vec<String>>,
    /// Issuer of the person tokens that the project accepts; null for none.
    #[serde(default, deserialize_with = "deserialize_some")]
    #[schema(value_type = Option<schemas::projects::NewIdentityProvider>)]
    identity: Option<Option<NewIdentityProvider>>,
    /// Tables that anybody may read; all others become private.
    #[serde(default)]
    #[schema(max_items = 64)]
    public_read_tables: Option<Vec<String>>,
    /// Names of those tables that become readable for anybody with this request, as a confirmation.
    #[serde(default)]
    #[schema(max_items = 64)]
    confirm_public_read: Vec<String>,
}

/// Maximum number of tables in a request; the same as `max_items` above.
const MAX_NAMES: usize = 64;

/// Deserializes a field that is present, even as null, to `Some`.
fn deserialize_some<'de, D, T>(deserializer: D) -> Result<Option<Option<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Option::deserialize(deserializer).map(Some)
}

/// Change the settings of a backend project
///
/// The changes take effect at once, and within a second on other nodes. Of `identity.keys`, those that verify no tokens are
/// left out: the response names them in `ignoredKeys`.
#[utoipa::path(
    patch, path = "/v1/backend/projects/{projectId}/settings", tag = "backend-console",
    params(("projectId" = kernel::id::ProjectId, Path, description = "The project."), IfMatch),
    request_body(
        content = ChangeProjectSettings,
        examples(
            ("limits" = (
                summary = "Limits and allowed origins",
                value = json!({
                    "allowedOrigins": ["https://shop.example"],
                    "rateLimitPerMin": 600,
                    "maxBodyKb": 256
                })
            )),
            ("identity" = (
                summary = "Issuer of person tokens",
                value = json!({
                    "identity": {
                        "issuer": "https://id.example",
                        "audience": "shop",
                        "claims": {"org": "https://corp.example/org", "team": "app_metadata.team"},
                        "keys": [{
                            "kty": "EC",
                            "crv": "P-256",
                            "x": "axfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpY",
                            "y": "T-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU"
                        }]
                    }
                })
            ))
        )
    ),
    responses((status = 200, body = ProjectView))
)]
pub(crate) async fn change_project_settings(
    State(api): State<Api>,
    Authorized(ctx, right): Authorized<Console, ProjectRight<Own>>,
    if_match: IfMatch,
    payload: Payload,
) -> ApiResult<Tagged<ProjectView>> {
    let input: ChangeProjectSettings = payload.json()?;
    for (field, names) in [
        ("publicReadTables", input.public_read_tables.as_deref().unwrap_or_default()),
        ("confirmPublicRead", &input.confirm_public_read),
    ] {
        if names.len() > MAX_NAMES {
            return Err(Problem::invalid_field(field, format!("must name at most {MAX_NAMES} tables")).into());
        }
    }
    let sets_identity = matches!(input.identity, Some(Some(_)));
    let project_ref = project_ref(&api, &right).await?;
    let mut public_read_changes: Vec<(String, bool)> = Vec::new();
    if let Some(public) = &input.public_read_tables {
        let mut unmatched: BTreeSet<&str> = public.iter().map(String::as_str).collect();
        for table in api.rows().schema(&project_ref, &Access::Owner).await.map_err(rows_problem)? {
            let wanted = unmatched.remove(table.name.as_str());
            if wanted && !table.public_read && !input.confirm_public_read.contains(&table.name) {
                let what =
                    format!("must contain {}, since anybody could then read all of its rows", table.name);
                return Err(Problem::invalid_field("confirmPublicRead", what).into());
            }
            if wanted != table.public_read {
                public_read_changes.push((table.name, wanted));
            }
        }
        if !unmatched.is_empty() {
            return Err(
                Problem::invalid_field("publicReadTables", "names a table that does not exist").into()
            );
        }
    }
    let change = SettingsChange {
        rate_limit_per_min: input.rate_limit_per_min,
        ip_rate_per_min: input.ip_rate_per_min,
        max_body_kb: input.max_body_kb,
        allowed_origins: input.allowed_origins,
        identity: input.identity,
    };
    let public_read_audit = |(table, public): &(String, bool)| {
        audit_entry(&ctx, "table.public_read", &right, json!({ "table": table, "public": public }))
    };
    let are_rows_changed = AtomicBool::new(false);
    let changed = api
        .transaction_once(unit!(|tx| {
            if_match.check(ProjectView::locked(tx, &api, &right)).await?;
            let changed = change_settings(tx, &ctx, &right, api.vault(), change.clone()).await?;
            if !public_read_changes.is_empty() {
                // Last before the commit: a refusal here leaves everything as it was.
                let rows = api.audited_rows(public_read_changes.iter().map(public_read_audit))?;
                rows.set_public_reads(&project_ref, &Access::Owner, &public_read_changes)
                    .await
                    .map_err(rows_problem)?;
                are_rows_changed.store(true, Ordering::Relaxed);
            }
            Ok::<_, Problem>(changed)
        }))
        .await;
    let (changed, ignored_keys) = match changed {
        Ok(changed) => changed,
        Err(problem) => {
            if are_rows_changed.into_inner() {
                let before: Vec<(String, bool)> =
                    public_read_changes.into_iter().map(|(table, public)| (table, !public)).collect();
                let rows = api.audited_rows(before.iter().map(public_read_audit))?;
                if let Err(error) = rows.set_public_reads(&project_ref, &Access::Owner, &before).await {
                    let error = &error as &dyn std::error::Error;
                    tracing::error!(error, project = %right.project(), "settings are half changed");
                }
                api.deliver_outbox(&project_ref).await;
            }
            return Err(problem.into());
        }
    };
    api.deliver_outbox(&project_ref).await;
    api.invalidate_project(changed.id);
    let summary = get_project(&api, &right).await?;
    let view = ProjectView::with_counts(&api, summary, &right).await?;
    Ok(Tagged(if sets_identity { view.with_ignored_keys(ignored_keys) } else { view }))
}
