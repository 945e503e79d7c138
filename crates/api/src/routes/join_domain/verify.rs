//! Looking for the record that proves a domain.

use application::unit;
use axum::{Json, extract::State};
use kernel::{Problem, authority::Admin};
use workspace::{WorkspaceError, join_domains::DnsCheck};

use super::view::JoinDomainView;
use crate::{
    auth::{Authorized, Console},
    http::{error::ApiResult, extract::Payload, views::EmptyBody},
    state::Api,
};

/// Look for the record that proves a workspace's domain
///
/// Found, the domain is verified; not found, it stays as it is. Of several workspaces that claim a domain the first to
/// prove it has it, and the others are told 409 `domain_taken`. When DNS cannot be asked: 503 `dns_unreachable`.
#[utoipa::path(post, path = "/v1/workspaces/{ws}/join-domain/verify", tag = "people", params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace.")), request_body(content = EmptyBody, example = json!({})), responses((status = 200, body = JoinDomainView)))]
pub(crate) async fn verify_join_domain(
    State(api): State<Api>,
    Authorized(ctx, admin): Authorized<Console, Admin>,
    payload: Payload,
) -> ApiResult<Json<JoinDomainView>> {
    let (_, caller) = api.signed_in_user(&ctx).await?;
    let _: EmptyBody = payload.json_or_empty()?;
    let claimed = api.store().join_domain(admin.workspace()).await?;
    let claimed = claimed.ok_or(WorkspaceError::JoinDomainNotFound)?;
    let records = api.txt_resolver().lookup_txt(&claimed.record_host()).await.map_err(|error| {
        Problem::unavailable("dns_unreachable", "DNS cannot be asked for this domain now.")
            .hint("Try again in a few minutes; look whether the domain's name servers answer.")
            .caused_by(error)
    })?;
    let dns_check = if claimed.is_verified_by(&records) { DnsCheck::Found } else { DnsCheck::Missing };
    let confirmed = api
        .transaction(unit!(|tx| {
            workspace::join_domains::confirm_join_domain(tx, &ctx, &admin, &claimed, dns_check).await
        }))
        .await?;
    Ok(Json(JoinDomainView::of(Some(confirmed), &caller)))
}
