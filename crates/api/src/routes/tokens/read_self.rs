//! Reading the presented token.

use application::{Problem, ProblemKind};
use axum::{Json, extract::State};
use identity::oauth::ClientKind;
use kernel::{
    Caller,
    authority::Role,
    id::{GrantId, UserId, WorkspaceId},
};
use serde::Serialize;
use utoipa::ToSchema;

use super::view::TokenRecord;
use crate::{
    auth::{AnyToken, Ctx},
    http::{error::ApiResult, schemas},
    state::Api,
};

/// The presented token, and the person it acts for.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OwnToken {
    token: TokenRecord,
    workspace: TokenWorkspace,
    user: TokenUser,
    role: Role,
    /// Grant of an agent; only for an agent's access token.
    #[serde(skip_serializing_if = "Option::is_none")]
    oauth: Option<TokenAgent>,
}

/// The grant of an agent's access token.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TokenAgent {
    grant_id: GrantId,
    client_name: String,
    #[schema(value_type = schemas::identity::ClientKind)]
    client_kind: ClientKind,
    /// Resource that the token is for: the agent server's URL.
    audience: String,
}

/// The workspace in which a token is valid.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TokenWorkspace {
    id: WorkspaceId,
    name: String,
    slug: String,
}

/// The person a token acts for.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TokenUser {
    id: UserId,
    name: String,
    email: String,
}

/// Read the presented token
#[utoipa::path(get, path = "/v1/tokens/self", tag = "tokens", responses((status = 200, body = OwnToken)))]
pub(crate) async fn read_own_token(State(api): State<Api>, ctx: Ctx<AnyToken>) -> ApiResult<Json<OwnToken>> {
    let Caller::Token(caller) = &ctx.caller else { return Err(Problem::unauthorized().into()) };
    let store = api.store();
    let (token, oauth) = match caller.grant {
        None => {
            let mut token = store.token(caller.token).await?.ok_or_else(Problem::unauthorized)?;
            // The store is updated later, with other uses.
            token.last_used_at = Some(ctx.now);
            (token.into(), None)
        }
        Some(_) => {
            let found = store.access_token_of(caller.workspace, caller.token).await?;
            let (token, mut grant) = found.ok_or_else(Problem::unauthorized)?;
            grant.last_used_at = Some(ctx.now);
            let record = TokenRecord::of_agent(token, &grant);
            let agent = TokenAgent {
                grant_id: grant.id,
                client_name: grant.client.name,
                client_kind: grant.client.kind,
                audience: grant.audience,
            };
            (record, Some(agent))
        }
    };
    let workspace = store.workspace(caller.workspace).await?.ok_or_else(Problem::unauthorized)?;
    let user = store.user(caller.user).await?.ok_or_else(Problem::unauthorized)?;
    // The token of a person who has lost access is worth nothing, not even here.
    let member =
        api.member(&ctx, &caller.workspace.to_string()).await.map_err(|problem| match problem.kind {
            ProblemKind::NotFound => Problem::unauthorized(),
            _ => problem,
        })?;
    Ok(Json(OwnToken {
        token,
        workspace: TokenWorkspace { id: workspace.id, name: workspace.name, slug: workspace.slug },
        user: TokenUser { id: user.id, name: user.name, email: user.email.to_string() },
        role: member.role(),
        oauth,
    }))
}
