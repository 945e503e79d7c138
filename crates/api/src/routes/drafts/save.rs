//! Saving a draft.

use std::collections::BTreeMap;

use application::{Problem, unit};
use apps::drafts::SaveDraft;
use axum::extract::State;
use kernel::{
    authority::{AppRight, CanEdit},
    id::VersionId,
};
use serde::Deserialize;
use utoipa::ToSchema;

use super::view::DraftView;
use crate::{
    auth::{Authorized, WriteToken},
    http::{
        conditional::{IfMatch, Tagged},
        error::ApiResult,
        extract::Payload,
    },
    state::Api,
};

/// Files to keep as a draft.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewDraft {
    /// Source text by path, within the bounds of a version. It need not compile.
    files: BTreeMap<String, String>,
    /// Version that the draft was begun from.
    #[serde(default)]
    base_version_id: Option<VersionId>,
}

/// Save your draft of an app
///
/// Replaces the draft that you have. It is kept for seven days.
#[utoipa::path(
    put, path = "/v1/apps/{id}/draft", tag = "apps",
    params(("id" = kernel::id::AppId, Path, description = "The app."), IfMatch),
    request_body(
        content = NewDraft,
        example = json!({"files": {"main.js": "export default { async scheduled(event) { return event.data } }"}})
    ),
    responses((status = 200, body = DraftView, headers(("ETag" = String))))
)]
pub(crate) async fn put_draft(
    State(api): State<Api>,
    Authorized(ctx, right): Authorized<WriteToken, AppRight<CanEdit>>,
    if_match: IfMatch,
    payload: Payload,
) -> ApiResult<Tagged<DraftView>> {
    let input: NewDraft = payload.json()?;
    if let Some(base) = input.base_version_id {
        let found = api.store().version(right.member().workspace(), right.app(), base).await?;
        found.ok_or_else(|| Problem::not_found("version"))?;
    }
    let input = SaveDraft { files: input.files, base: input.base_version_id };
    let draft = api
        .transaction(unit!(|tx| {
            if_match.check(DraftView::locked(tx, &right, ctx.now)).await?;
            Ok::<_, Problem>(apps::drafts::save_draft(tx, &ctx, &right, input.clone()).await?)
        }))
        .await?;
    Ok(Tagged(draft.into()))
}
