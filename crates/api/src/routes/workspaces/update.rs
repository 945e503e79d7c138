//! Changing a workspace.

use application::{Problem, unit};
use axum::extract::State;
use kernel::{Locale, authority::Admin};
use serde::Deserialize;
use utoipa::ToSchema;
use workspace::workspaces::{Currency, WorkspaceChange};

use super::view::{Counts, WorkspaceView};
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

/// Changes. Fields that you do not send stay as they are.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct UpdateWorkspace {
    #[serde(default)]
    #[schema(min_length = 2, max_length = 60)]
    name: Option<String>,
    #[serde(default)]
    locale: Option<Locale>,
    /// IANA time zone.
    #[serde(default)]
    #[schema(max_length = 64, example = "Asia/Almaty")]
    timezone: Option<String>,
    #[serde(default)]
    #[schema(value_type = Option<schemas::workspace::Currency>)]
    currency: Option<Currency>,
    /// Cost of an hour of a person's work, in the currency's minor unit. It does not follow a change of the currency.
    #[serde(default)]
    #[schema(maximum = 1_000_000_000)]
    hourly_cost_minor: Option<u32>,
}

/// Change a workspace
///
/// The name in URLs (`slug`) stays.
#[utoipa::path(
    patch, path = "/v1/workspaces/{ws}", tag = "workspaces",
    params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace."), IfMatch),
    request_body(
        content = UpdateWorkspace,
        example = json!({
            "name": "Acme Kazakhstan",
            "timezone": "Asia/Almaty",
            "currency": "KZT",
            "hourlyCostMinor": 500_000
        })
    ),
    responses((status = 200, body = WorkspaceView))
)]
pub(crate) async fn update_workspace(
    State(api): State<Api>,
    Authorized(ctx, admin): Authorized<Console, Admin>,
    if_match: IfMatch,
    payload: Payload,
) -> ApiResult<Tagged<WorkspaceView>> {
    let input: UpdateWorkspace = payload.json()?;
    let change = WorkspaceChange {
        name: input.name,
        locale: input.locale,
        timezone: input.timezone,
        currency: input.currency,
        hourly_cost_minor: input.hourly_cost_minor,
    };
    let updated = api
        .transaction(unit!(|tx| {
            if_match.check(WorkspaceView::locked(tx, admin.workspace())).await?;
            let updated = workspace::workspaces::update_workspace(tx, &ctx, &admin, change.clone()).await?;
            Ok::<_, Problem>(updated)
        }))
        .await?;
    let counts = Counts::of(&api, updated.id, ctx.now).await?;
    Ok(Tagged(WorkspaceView::of(updated, counts)))
}
