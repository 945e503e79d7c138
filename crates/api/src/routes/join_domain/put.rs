//! Claiming a domain.

use application::{Problem, unit};
use axum::extract::State;
use kernel::authority::Admin;
use serde::Deserialize;
use utoipa::ToSchema;
use workspace::join_domains::Domain;

use super::view::JoinDomainView;
use crate::{
    auth::{Authorized, Console},
    http::{
        conditional::{IfMatch, Tagged},
        error::ApiResult,
        extract::Payload,
    },
    state::Api,
};

/// The domain to claim.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PutJoinDomain {
    #[schema(min_length = 3, max_length = 253, example = "example.com")]
    domain: String,
}

/// Claim a domain
///
/// Replaces the previous domain. The response has the DNS record with which you prove that you own the domain. Nobody
/// can join before it is verified. Domains at which anybody can get an address are refused.
#[utoipa::path(put, path = "/v1/workspaces/{ws}/join-domain", tag = "people", params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace."), IfMatch), request_body(content = PutJoinDomain, example = json!({"domain": "example.com"})), responses((status = 200, body = JoinDomainView)))]
pub(crate) async fn put_join_domain(
    State(api): State<Api>,
    Authorized(ctx, admin): Authorized<Console, Admin>,
    if_match: IfMatch,
    payload: Payload,
) -> ApiResult<Tagged<JoinDomainView>> {
    let (_, caller) = api.signed_in_user(&ctx).await?;
    let input: PutJoinDomain = payload.json()?;
    let domain: Domain = input.domain.parse()?;
    let claimed = api
        .transaction(unit!(|tx| {
            if_match.check(JoinDomainView::locked(tx, admin.workspace(), &caller)).await?;
            let claimed =
                workspace::join_domains::claim_join_domain(tx, &ctx, &admin, domain.clone()).await?;
            Ok::<_, Problem>(claimed)
        }))
        .await?;
    Ok(Tagged(JoinDomainView::of(Some(claimed), &caller)))
}
