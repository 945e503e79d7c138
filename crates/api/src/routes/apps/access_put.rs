//! Replacing the sharing of an app.

use application::{Problem, unit};
use apps::access::AppGrant;
use axum::extract::State;
use kernel::authority::{AppRight, CanShare};

use super::access_read::AppAccessView;
use crate::{
    auth::{Authorized, Console},
    http::{
        conditional::{IfMatch, Tagged},
        error::ApiResult,
        extract::Payload,
    },
    state::Api,
};

/// Replace the sharing of an app
///
/// Sets how far the app is shared in its workspace, and replaces the list of people with rights of their own.
#[utoipa::path(put, path = "/v1/apps/{id}/access", tag = "apps", params(("id" = kernel::id::AppId, Path, description = "The app."), IfMatch), request_body(content = AppAccessView, example = json!({"sharing": "private", "people": [{"userId": "usr_01h455vb4pex5vsknk084sn02q", "rights": ["can_view", "can_run"]}]})), responses((status = 200, body = AppAccessView)))]
pub(crate) async fn put_access(
    State(api): State<Api>,
    Authorized(ctx, right): Authorized<Console, AppRight<CanShare>>,
    if_match: IfMatch,
    payload: Payload,
) -> ApiResult<Tagged<AppAccessView>> {
    let input: AppAccessView = payload.json()?;
    let grants: Vec<AppGrant> = input
        .people
        .into_iter()
        .map(|person| AppGrant { user: person.user_id, rights: person.rights.into_iter().collect() })
        .collect();
    let sharing = input.sharing;
    let people = api
        .transaction(unit!(|tx| {
            if_match.check(AppAccessView::locked(tx, &right)).await?;
            apps::access::replace_access(tx, &ctx, &right, sharing, grants.clone()).await?;
            Ok::<_, Problem>(tx.grants_of_app(right.member().workspace(), right.app()).await?)
        }))
        .await?;
    Ok(Tagged(AppAccessView::of(sharing, people)))
}
