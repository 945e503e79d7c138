//! Verifying a join domain by its DNS record.

use application::{Problem, unit};
use axum::{Json, extract::State};
use kernel::authority::Admin;
use workspace::{WorkspaceError, join_domains::DnsCheck};

use super::view::JoinDomainView;
use crate::{
    auth::{Authorized, Console},
    http::{error::ApiResult, extract::Payload, views::EmptyBody},
    state::Api,
};

/// Verify a workspace's join domain
///
/// Looks up the DNS record. If it is found, the domain is verified, otherwise its state does not change. If several
/// workspaces claim a domain, the first to prove it gets it; the others get 409 `domain_taken`. If DNS does not
/// respond, the request fails with 503 `dns_unreachable`.
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
    let records = api.txt_resolver().lookup_txt(&claimed.record_host()).await?;
    let dns_check = if claimed.is_verified_by(&records) { DnsCheck::Found } else { DnsCheck::Missing };
    let confirmed = api
        .transaction(unit!(|tx| {
            // Name servers may have taken seconds.
            let admin = api.lock_member(tx, &ctx, admin.workspace()).await?.require_admin()?;
            let confirmed =
                workspace::join_domains::confirm_join_domain(tx, &ctx, &admin, &claimed, dns_check).await?;
            Ok::<_, Problem>(confirmed)
        }))
        .await?;
    Ok(Json(JoinDomainView::of(Some(confirmed), &caller)))
}
