//! Rows of agent clients as domain values.

use ::identity::oauth::{
    AccessToken, Authorization, AuthorizationStage, Client, ClientKind, ClientSnapshot, Grant, RefreshToken,
    authorizations::Consent, grants::RefreshTokenState, pkce::CodeChallenge,
};
use kernel::{StoreError, token::TokenHint};

use crate::{
    convert::RowContext,
    entity::{
        column::{DbId, DbTime},
        oauth_access_tokens,
        oauth_authorizations::{self, Stage},
        oauth_clients, oauth_grants, oauth_refresh_tokens,
    },
};

pub(super) fn client(model: oauth_clients::Model) -> Result<Client, StoreError> {
    let row = RowContext::new("oauth_clients", model.id);
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

pub(super) fn authorization(model: oauth_authorizations::Model) -> Result<Authorization, StoreError> {
    let row = RowContext::new("oauth_authorizations", model.id);
    let stage = stage(row, &model)?;
    Ok(Authorization {
        id: model.id.0,
        client: ClientSnapshot {
            id: model.client_id,
            kind: model.client_kind.0,
            name: model.client_name,
            host: model.client_host,
        },
        homepage_host: model.homepage_host,
        redirect_uri: model.redirect.0,
        state: model.state,
        challenge: CodeChallenge::from_slice(&model.challenge)
            .ok_or_else(|| row.error("the challenge has another length"))?,
        audience: model.audience,
        requested: model.requested.0,
        created_at: model.created_at.0,
        expires_at: model.expires_at.0,
        stage,
    })
}

fn stage(row: RowContext, model: &oauth_authorizations::Model) -> Result<AuthorizationStage, StoreError> {
    let missing = |what: &str| row.error(format_args!("the stage {:?} has no {what}", model.stage));
    let by = || model.user_id.map(DbId::into_inner).ok_or_else(|| missing("person"));
    let allowed = || {
        let workspace = model.workspace_id.map(DbId::into_inner).ok_or_else(|| missing("workspace"))?;
        let access = model.access.ok_or_else(|| missing("access"))?.0;
        Ok::<_, StoreError>(Consent { by: by()?, workspace, access })
    };
    Ok(match model.stage {
        Stage::Waiting => AuthorizationStage::Pending,
        Stage::Seen => AuthorizationStage::Claimed { by: by()? },
        Stage::Denied => AuthorizationStage::Denied { by: by()? },
        Stage::Allowed => {
            let until = model.code_until.ok_or_else(|| missing("end of its code"))?;
            AuthorizationStage::Allowed { consent: allowed()?, code_expires_at: until.0 }
        }
        Stage::Redeemed => {
            let grant = model.grant_id.ok_or_else(|| missing("grant"))?;
            AuthorizationStage::Redeemed { consent: allowed()?, grant: grant.0 }
        }
    })
}

impl From<oauth_grants::Model> for Grant {
    fn from(model: oauth_grants::Model) -> Self {
        Self {
            id: model.id.0,
            workspace: model.workspace_id.0,
            user: model.user_id.0,
            client: ClientSnapshot {
                id: model.client_id,
                kind: model.client_kind.0,
                name: model.client_name,
                host: model.client_host,
            },
            access: model.access.0,
            audience: model.audience,
            created_at: model.created_at.0,
            last_used_at: model.last_used_at.map(DbTime::into_inner),
            expires_at: model.expires_at.0,
            revoked_at: model.revoked_at.map(DbTime::into_inner),
        }
    }
}

impl From<oauth_access_tokens::Model> for AccessToken {
    fn from(model: oauth_access_tokens::Model) -> Self {
        Self {
            id: model.id.0,
            grant: model.grant_id.0,
            workspace: model.workspace_id.0,
            access: model.access.0,
            hint: TokenHint { prefix: model.prefix, last4: model.last4 },
            created_at: model.created_at.0,
            expires_at: model.expires_at.0,
        }
    }
}

impl From<oauth_refresh_tokens::Model> for RefreshToken {
    fn from(model: oauth_refresh_tokens::Model) -> Self {
        let rotated_at = model.spent_at.map(DbTime::into_inner);
        Self {
            id: model.id.0,
            grant: model.grant_id.0,
            workspace: model.workspace_id.0,
            generation: model.generation,
            created_at: model.created_at.0,
            state: rotated_at.map_or(RefreshTokenState::Current, |at| RefreshTokenState::Rotated { at }),
        }
    }
}
