//! Listing dead letters.

use axum::{Json, extract::State};
use kernel::{
    authority::Member,
    id::{AppId, AutomationId, RunId},
    page::{Page, PageRequest},
};
use runs::{
    TriggerKind,
    dead_letters::{DeadLetterFilter, DeadLetterKind, DeadLetterState},
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::view::DeadLetterView;
use crate::{
    auth::{Authorized, ReadToken},
    http::{error::ApiResult, extract::Params, schemas},
    state::Api,
};

/// Filters, and the page of the list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListDeadLetters {
    /// Only items of this app.
    app_id: Option<AppId>,
    /// Only items of this automation.
    automation_id: Option<AutomationId>,
    /// Only the one of this run.
    run_id: Option<RunId>,
    /// Only failed runs, or only refused calls.
    #[param(value_type = Option<schemas::runs::LetterKind>)]
    kind: Option<DeadLetterKind>,
    /// Only dead letters in this state.
    #[param(value_type = Option<schemas::runs::LetterState>)]
    state: Option<DeadLetterState>,
    /// Only dead letters with this trigger.
    #[param(value_type = Option<schemas::runs::TriggerKind>)]
    trigger: Option<TriggerKind>,
    /// The `nextCursor` of the previous page.
    cursor: Option<String>,
    /// Maximum number of items.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
}

/// The dead letters of a workspace whose app you can view, newest first.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeadLetterList {
    items: Vec<DeadLetterView>,
    /// Cursor of the next page; null on the last page.
    #[schema(required)]
    next_cursor: Option<String>,
}

/// List the dead letters of a workspace
///
/// Newest first, by the time at which the run was accepted or the call was received.
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}/dead-letters", tag = "runs",
    params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace."), ListDeadLetters),
    responses((status = 200, body = DeadLetterList))
)]
pub(crate) async fn list_dead_letters(
    State(api): State<Api>,
    Authorized(_ctx, member): Authorized<ReadToken, Member>,
    Params(input): Params<ListDeadLetters>,
) -> ApiResult<Json<DeadLetterList>> {
    let page = PageRequest::parse(input.limit, input.cursor.as_deref())?;
    let filter = DeadLetterFilter {
        app: input.app_id,
        automation: input.automation_id,
        run: input.run_id,
        kind: input.kind,
        state: input.state,
        trigger: input.trigger,
    };
    let found = api.store().dead_letters(member.workspace(), member.visibility(), filter, page).await?;
    let page = Page::from_limit_plus_one(found, page.limit, |letter| letter.id);
    let items = DeadLetterView::of_all(&api, &member, page.items).await?;
    Ok(Json(DeadLetterList { items, next_cursor: page.next_cursor }))
}
