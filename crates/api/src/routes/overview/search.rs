//! Searching the objects of a workspace.

use application::search::{Found, FoundKind};
use axum::{Json, extract::State};
use kernel::{
    authority::Member,
    id::{AppId, ProjectId},
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{
    auth::{Authorized, ReadToken},
    http::{error::ApiResult, extract::Params, schemas},
    state::Api,
};

/// The text to search for.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct SearchQuery {
    /// A part of a name, an address or a host, in any case; or an id.
    #[param(min_length = 1, max_length = 100)]
    q: String,
}

/// Objects that match, the best first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SearchResults {
    #[schema(max_items = 20)]
    items: Vec<SearchResult>,
}

/// An object that matches.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SearchResult {
    #[schema(value_type = schemas::application::FoundKind)]
    kind: FoundKind,
    /// Id of the object; the name of a table.
    id: String,
    name: String,
    /// Host, address, project or status of a run, which tells it from others of the same name.
    #[schema(required)]
    detail: Option<String>,
    /// App that it is or belongs to.
    #[schema(required)]
    app_id: Option<AppId>,
    /// Project that it is or belongs to.
    #[schema(required)]
    project_id: Option<ProjectId>,
}

impl From<Found> for SearchResult {
    fn from(found: Found) -> Self {
        Self {
            kind: found.kind,
            id: found.id,
            name: found.name,
            detail: found.detail,
            app_id: found.app,
            project_id: found.project,
        }
    }
}

/// Search the objects of a workspace
///
/// Compares the names of what you can view: apps, automations, connections and agents' tools; in the console also backend
/// projects, their tables, gates and members. Of each kind, the newest 10,000. An id finds its object alone, runs, dead
/// letters, planned changes and imports included.
#[utoipa::path(get, path = "/v1/workspaces/{ws}/search", tag = "workspaces", params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace."), SearchQuery), responses((status = 200, body = SearchResults)))]
pub(crate) async fn search_workspace(
    State(api): State<Api>,
    Authorized(ctx, member): Authorized<ReadToken, Member>,
    Params(query): Params<SearchQuery>,
) -> ApiResult<Json<SearchResults>> {
    let found = api.search(&ctx, &member, &query.q).await?;
    Ok(Json(SearchResults { items: found.into_iter().map(SearchResult::from).collect() }))
}
