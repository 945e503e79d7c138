//! Creating a workspace with its sample data.

use axum::{Json, extract::State};
use kernel::{
    Caller, Locale,
    caller::SessionCaller,
    id::{AppId, AutomationId, GateId},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use workspace::workspaces::{Currency, Intent, Profile, TeamSize};

use super::view::{Counts, WorkspaceView};
use crate::{
    auth::{Console, Ctx},
    http::{error::ApiResult, extract::Payload, schemas, views::SessionView},
    state::Api,
};
use application::{Problem, sample_data, unit};

/// A new workspace.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CreateWorkspace {
    #[schema(min_length = 2, max_length = 60, example = "Acme")]
    name: String,
    #[schema(value_type = schemas::workspace::Profile)]
    profile: Profile,
    #[schema(value_type = schemas::workspace::TeamSize)]
    team_size: TeamSize,
    #[schema(max_items = 3, example = json!(["automations"]), value_type = Vec<schemas::workspace::Intent>)]
    intents: Vec<Intent>,
    #[serde(default)]
    locale: Option<Locale>,
    /// IANA time zone. Default: UTC.
    #[serde(default)]
    #[schema(max_length = 64, example = "Asia/Almaty")]
    timezone: Option<String>,
    #[serde(default)]
    #[schema(value_type = Option<schemas::workspace::Currency>)]
    currency: Option<Currency>,
}

/// The new workspace.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CreatedWorkspace {
    workspace: WorkspaceView,
    session: SessionView,
    starter: StarterView,
}

/// The sample data of a new workspace.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StarterView {
    #[schema(required)]
    sample_app_id: Option<AppId>,
    app_ids: Vec<AppId>,
    gate_ids: Vec<GateId>,
    road_ids: Vec<AutomationId>,
}

/// Create a workspace
///
/// The workspace has sample data: a working app, its gates, an automation and a backend project.
#[utoipa::path(
    post, path = "/v1/workspaces", tag = "workspaces",
    request_body(
        content = CreateWorkspace,
        example = json!({
            "name": "Acme",
            "profile": "global",
            "teamSize": "solo",
            "intents": ["automations"],
            "timezone": "Asia/Almaty"
        })
    ),
    responses((status = 200, body = CreatedWorkspace))
)]
pub(crate) async fn create_workspace(
    State(api): State<Api>,
    ctx: Ctx<Console>,
    payload: Payload,
) -> ApiResult<Json<CreatedWorkspace>> {
    let Caller::Session(session) = &ctx.caller else { return Err(Problem::unauthorized().into()) };
    let input: CreateWorkspace = payload.json()?;
    let input = workspace::workspaces::CreateWorkspace {
        name: input.name,
        profile: input.profile,
        team_size: input.team_size,
        intents: input.intents,
        locale: input.locale,
        timezone: input.timezone,
        currency: input.currency,
        plan: api.settings().default_plan,
    };
    let project = sample_data::provision_rows(&api, &ctx).await?;
    let created = api.transaction(unit!(|tx| {
        let workspace =
            workspace::workspaces::create_workspace(tx, &ctx, session.user, input.clone()).await?;
        tx.set_session_workspace(session.session, workspace.id).await?;
        let starter = sample_data::seed(&api, tx, &ctx, workspace.id, project).await?;
        Ok::<_, Problem>((workspace, starter))
    }));
    let (workspace, starter) = sample_data::or_deprovision(&api, project, created.await).await?;

    let counts = Counts::of(&api, workspace.id, ctx.now).await?;
    let session = SessionCaller { workspace: Some(workspace.id), ..session.clone() };
    Ok(Json(CreatedWorkspace {
        workspace: WorkspaceView::of(workspace, counts),
        session: SessionView::of(&api, &session, None, ctx.now).await?,
        starter: StarterView {
            sample_app_id: Some(starter.app),
            app_ids: vec![starter.app],
            gate_ids: vec![starter.gate],
            road_ids: vec![starter.automation],
        },
    }))
}
