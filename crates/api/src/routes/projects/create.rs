//! Creating a backend project.

use axum::{Json, extract::State};
use kernel::authority::{Member, Role};
use projects::{
    ProjectFact, authorize_project,
    projects::{CreateProject, ProjectSummary},
};
use serde::Deserialize;
use utoipa::ToSchema;

use super::view::ProjectView;
use crate::{
    auth::{Authorized, Console},
    http::{error::ApiResult, extract::Payload},
    state::Api,
};
use application::{Problem, sample_data, unit};

/// A new backend project.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewProject {
    #[schema(min_length = 2, max_length = 60, example = "Orders")]
    name: String,
    #[serde(default)]
    #[schema(max_length = 280)]
    description: Option<String>,
}

/// Create a backend project
///
/// The project has a sample table and no keys.
#[utoipa::path(post, path = "/v1/workspaces/{ws}/backend/projects", tag = "backend-console", params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace.")), request_body(content = NewProject, example = json!({"name": "Orders", "description": "Orders of the shop."})), responses((status = 200, body = ProjectView)))]
pub(crate) async fn create_project(
    State(api): State<Api>,
    Authorized(ctx, member): Authorized<Console, Member>,
    payload: Payload,
) -> ApiResult<Json<ProjectView>> {
    if !member.role().at_least(Role::Member) {
        let message = "You need the role member or higher.";
        return Err(Problem::forbidden("forbidden", message).into());
    }
    let input: NewProject = payload.json()?;
    let mut input = CreateProject {
        id: ctx.new_id(),
        name: input.name,
        description: input.description,
        shard: api.settings().new_projects_shard,
    };
    input.check(&member)?;
    input.id = sample_data::provision_rows(&api, &ctx).await?;
    let id = input.id;
    let created =
        api.transaction(unit!(
            |tx| projects::projects::create_project(tx, &ctx, &member, input.clone()).await
        ));
    let project = sample_data::or_deprovision(&api, id, created.await).await?;
    let fact =
        ProjectFact { project: project.id, workspace: project.workspace, created_by: project.created_by };
    let access = authorize_project(member, Some(&fact))?;
    let summary = ProjectSummary { project, key_count: 0 };
    Ok(Json(ProjectView::with_counts(&api, summary, &access).await?))
}
