//! The ports of `identity`'s agent clients.

mod read;
mod write;

use ::identity::oauth::{
    AccessToken, AgentAccess, Authorization, AuthorizationStage, Client, ClientKind, ClientSnapshot, Grant,
    RefreshToken, authorizations::Consent, grants::RefreshTokenState, pkce::CodeChallenge,
};
use kernel::{Id, StoreError, id::WorkspaceId, token::TokenHint};

use crate::{
    convert::RowContext,
    entity::{oauth_access_tokens, oauth_authorizations, oauth_clients, oauth_grants, oauth_refresh_tokens},
};

fn client(model: oauth_clients::Model) -> Result<Client, StoreError> {
    let row = RowContext { table: "oauth_clients", id: model.id };
    let redirects: Vec<String> = row.json(&model.redirects)?;
    Ok(Client {
        snapshot: ClientSnapshot {
            id: model.client_id,
            kind: ClientKind::Registered,
            name: model.name,
            host: None,
        },
        redirect_uris: redirects.iter().map(|uri| row.parse(uri)).collect::<Result<_, _>>()?,
        homepage_host: model.homepage_host,
    })
}

fn authorization(model: oauth_authorizations::Model) -> Result<Authorization, StoreError> {
    let row = RowContext { table: "oauth_authorizations", id: model.id };
    let stage = stage(row, &model)?;
    Ok(Authorization {
        id: Id::from_uuid(model.id),
        client: ClientSnapshot {
            id: model.client_id,
            kind: row.parse(&model.client_kind)?,
            name: model.client_name,
            host: model.client_host,
        },
        homepage_host: model.homepage_host,
        redirect_uri: row.parse(&model.redirect)?,
        state: model.state,
        challenge: CodeChallenge::from_slice(&model.challenge)
            .ok_or_else(|| row.error("the challenge has another length"))?,
        audience: model.audience,
        requested: row.parse(&model.requested)?,
        created_at: row.timestamp(model.created_at)?,
        expires_at: row.timestamp(model.expires_at)?,
        stage,
    })
}

fn stage(row: RowContext, model: &oauth_authorizations::Model) -> Result<AuthorizationStage, StoreError> {
    let missing = |what: &str| row.error(format_args!("the stage {} has no {what}", model.stage));
    let by = || model.user_id.map(Id::from_uuid).ok_or_else(|| missing("person"));
    let allowed = || {
        let workspace = model.workspace_id.map(Id::from_uuid).ok_or_else(|| missing("workspace"))?;
        let access = row.parse(model.access.as_deref().ok_or_else(|| missing("access"))?)?;
        Ok::<_, StoreError>(Consent { by: by()?, workspace, access })
    };
    Ok(match model.stage.as_str() {
        "waiting" => AuthorizationStage::Pending,
        "seen" => AuthorizationStage::Claimed { by: by()? },
        "denied" => AuthorizationStage::Denied { by: by()? },
        "allowed" => {
            let until = model.code_until.ok_or_else(|| missing("end of its code"))?;
            AuthorizationStage::Allowed { consent: allowed()?, code_expires_at: row.timestamp(until)? }
        }
        "redeemed" => {
            let grant = model.grant_id.ok_or_else(|| missing("grant"))?;
            AuthorizationStage::Redeemed { consent: allowed()?, grant: Id::from_uuid(grant) }
        }
        other => return Err(row.error(format_args!("there is no stage {other}"))),
    })
}

fn grant(model: oauth_grants::Model) -> Result<Grant, StoreError> {
    let row = RowContext { table: "oauth_grants", id: model.id };
    Ok(Grant {
        id: Id::from_uuid(model.id),
        workspace: Id::from_uuid(model.workspace_id),
        user: Id::from_uuid(model.user_id),
        client: ClientSnapshot {
            id: model.client_id,
            kind: row.parse(&model.client_kind)?,
            name: model.client_name,
            host: model.client_host,
        },
        access: row.parse(&model.access)?,
        audience: model.audience,
        created_at: row.timestamp(model.created_at)?,
        last_used_at: row.optional_timestamp(model.last_used_at)?,
        expires_at: row.timestamp(model.expires_at)?,
        revoked_at: row.optional_timestamp(model.revoked_at)?,
    })
}

fn access_token(model: oauth_access_tokens::Model) -> Result<AccessToken, StoreError> {
    let row = RowContext { table: "oauth_access_tokens", id: model.id };
    Ok(AccessToken {
        id: Id::from_uuid(model.id),
        grant: Id::from_uuid(model.grant_id),
        workspace: WorkspaceId::from_uuid(model.workspace_id),
        access: row.parse::<AgentAccess>(&model.access)?,
        hint: TokenHint { prefix: model.prefix, last4: model.last4 },
        created_at: row.timestamp(model.created_at)?,
        expires_at: row.timestamp(model.expires_at)?,
    })
}

fn refresh_token(model: &oauth_refresh_tokens::Model) -> Result<RefreshToken, StoreError> {
    let row = RowContext { table: "oauth_refresh_tokens", id: model.id };
    let spent = row.optional_timestamp(model.spent_at)?;
    Ok(RefreshToken {
        id: Id::from_uuid(model.id),
        grant: Id::from_uuid(model.grant_id),
        workspace: Id::from_uuid(model.workspace_id),
        generation: model.generation,
        created_at: row.timestamp(model.created_at)?,
        state: spent.map_or(RefreshTokenState::Current, |at| RefreshTokenState::Rotated { at }),
    })
}
