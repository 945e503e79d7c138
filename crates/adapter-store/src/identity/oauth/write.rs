//! Writes of agent clients.

use ::identity::oauth::{
    AccessToken, Authorization, AuthorizationStage, Client, Grant, OAuthTx, RedirectUri, RefreshToken,
    grants::RefreshTokenState,
};
use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    id::{AuthorizationId, GrantId, OAuthClientId, TokenId, UserId, WorkspaceId},
    token::Digest,
};
use sea_orm::{
    ActiveValue::{NotSet, Set},
    ColumnTrait as _, EntityTrait as _, QueryFilter as _, QuerySelect as _,
    sea_query::Expr,
};

use super::models;
use crate::{
    caller_cache::CallerChange,
    convert::{digest_bytes, to_json},
    entity::{
        column::{DbId, DbText, DbTime},
        members, oauth_access_tokens,
        oauth_authorizations::{self, Stage},
        oauth_clients, oauth_grants, oauth_refresh_tokens,
    },
    error::OrStoreError as _,
    query::{self, unset_or_after},
    tx::StoreTx,
};

/// The columns of an authorization that follow from its stage.
fn with_stage_columns(
    row: oauth_authorizations::ActiveModel,
    stage: &AuthorizationStage,
) -> oauth_authorizations::ActiveModel {
    let (name, consent) = match stage {
        AuthorizationStage::Pending => (Stage::Waiting, None),
        AuthorizationStage::Claimed { .. } => (Stage::Seen, None),
        AuthorizationStage::Denied { .. } => (Stage::Denied, None),
        AuthorizationStage::Allowed { consent: allowed, .. } => (Stage::Allowed, Some(allowed)),
        AuthorizationStage::Redeemed { consent: allowed, .. } => (Stage::Redeemed, Some(allowed)),
    };
    let (code_until, grant) = match stage {
        AuthorizationStage::Allowed { code_expires_at, .. } => (Some(*code_expires_at), None),
        AuthorizationStage::Redeemed { grant, .. } => (None, Some(*grant)),
        _ => (None, None),
    };
    oauth_authorizations::ActiveModel {
        stage: Set(name),
        user_id: Set(stage.claimed_by().map(DbId)),
        workspace_id: Set(consent.map(|consent| DbId(consent.workspace))),
        access: Set(consent.map(|consent| DbText(consent.access))),
        code_until: Set(code_until.map(DbTime)),
        grant_id: Set(grant.map(DbId)),
        ..row
    }
}

#[span_macros::traced]
#[async_trait]
impl OAuthTx for StoreTx {
    async fn insert_client(
        &mut self,
        id: OAuthClientId,
        client: &Client,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let redirects: Vec<&str> = client.redirect_uris.iter().map(RedirectUri::as_str).collect();
        let row = oauth_clients::ActiveModel {
            id: Set(DbId(id)),
            client_id: Set(client.snapshot.id.clone()),
            name: Set(client.snapshot.name.clone()),
            redirects: Set(to_json(&redirects)?),
            homepage_host: Set(client.homepage_host.clone()),
            created_at: Set(DbTime(at)),
        };
        oauth_clients::Entity::insert(row).exec_without_returning(self.write()).await.or_store_error()?;
        Ok(())
    }

    async fn insert_authorization(&mut self, authorization: &Authorization) -> Result<(), StoreError> {
        let row = oauth_authorizations::ActiveModel {
            id: Set(DbId(authorization.id)),
            client_id: Set(authorization.client.id.clone()),
            client_kind: Set(DbText(authorization.client.kind)),
            client_name: Set(authorization.client.name.clone()),
            client_host: Set(authorization.client.host.clone()),
            homepage_host: Set(authorization.homepage_host.clone()),
            redirect: Set(DbText(authorization.redirect_uri.clone())),
            state: Set(authorization.state.clone()),
            challenge: Set(authorization.challenge.as_bytes().to_vec()),
            audience: Set(authorization.audience.clone()),
            requested: Set(DbText(authorization.requested)),
            created_at: Set(DbTime(authorization.created_at)),
            expires_at: Set(DbTime(authorization.expires_at)),
            code_digest: NotSet,
            ..Default::default()
        };
        let row = with_stage_columns(row, &authorization.stage);
        oauth_authorizations::Entity::insert(row)
            .exec_without_returning(self.write())
            .await
            .or_store_error()?;
        Ok(())
    }

    async fn authorization(&mut self, id: AuthorizationId) -> Result<Option<Authorization>, StoreError> {
        let found = oauth_authorizations::Entity::find_by_id(id)
            .lock_exclusive()
            .one(self.read())
            .await
            .or_store_error()?;
        found.map(models::authorization).transpose()
    }

    async fn authorization_by_code(
        &mut self,
        candidates: &[Digest],
    ) -> Result<Option<Authorization>, StoreError> {
        let found = oauth_authorizations::Entity::find()
            .filter(oauth_authorizations::Column::CodeDigest.is_in(digest_bytes(candidates)))
            .lock_exclusive()
            .one(self.read())
            .await
            .or_store_error()?;
        found.map(models::authorization).transpose()
    }

    async fn set_authorization_stage(
        &mut self,
        id: AuthorizationId,
        stage: &AuthorizationStage,
        code: Option<&Digest>,
    ) -> Result<(), StoreError> {
        let digest = code.map_or(NotSet, |code| Set(Some(code.as_bytes().to_vec())));
        let row = oauth_authorizations::ActiveModel { code_digest: digest, ..Default::default() };
        oauth_authorizations::Entity::update_many()
            .set(with_stage_columns(row, stage))
            .filter(oauth_authorizations::Column::Id.eq(DbId(id)))
            .exec(self.write())
            .await
            .or_store_error()?;
        Ok(())
    }

    async fn insert_grant(&mut self, grant: &Grant) -> Result<(), StoreError> {
        let row = oauth_grants::ActiveModel {
            id: Set(DbId(grant.id)),
            workspace_id: Set(DbId(grant.workspace)),
            user_id: Set(DbId(grant.user)),
            client_id: Set(grant.client.id.clone()),
            client_kind: Set(DbText(grant.client.kind)),
            client_name: Set(grant.client.name.clone()),
            client_host: Set(grant.client.host.clone()),
            access: Set(DbText(grant.access)),
            audience: Set(grant.audience.clone()),
            created_at: Set(DbTime(grant.created_at)),
            last_used_at: Set(grant.last_used_at.map(DbTime)),
            expires_at: Set(DbTime(grant.expires_at)),
            revoked_at: Set(grant.revoked_at.map(DbTime)),
        };
        oauth_grants::Entity::insert(row).exec_without_returning(self.write()).await.or_store_error()?;
        Ok(())
    }

    async fn grant(&mut self, workspace: WorkspaceId, id: GrantId) -> Result<Option<Grant>, StoreError> {
        let found = oauth_grants::Entity::find_by_id(id)
            .filter(oauth_grants::Column::WorkspaceId.eq(DbId(workspace)))
            .lock_exclusive()
            .one(self.read())
            .await
            .or_store_error()?;
        Ok(found.map(Grant::from))
    }

    async fn revoke_grant(
        &mut self,
        workspace: WorkspaceId,
        id: GrantId,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let ended = oauth_grants::Entity::update_many()
            .col_expr(oauth_grants::Column::RevokedAt, Expr::value(DbTime(at)))
            .filter(oauth_grants::Column::Id.eq(DbId(id)))
            .filter(oauth_grants::Column::WorkspaceId.eq(DbId(workspace)))
            .filter(oauth_grants::Column::RevokedAt.is_null())
            .exec(self.conditional_write())
            .await
            .or_store_error()?;
        if ended.rows_affected == 0 {
            return Ok(false);
        }
        self.mark_written();
        self.invalidate_caller(CallerChange::Grant(id));
        Ok(true)
    }

    async fn revoke_grants(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
        at: Timestamp,
    ) -> Result<Vec<GrantId>, StoreError> {
        let ended = oauth_grants::Entity::update_many()
            .col_expr(oauth_grants::Column::RevokedAt, Expr::value(DbTime(at)))
            .filter(oauth_grants::Column::WorkspaceId.eq(DbId(workspace)))
            .filter(oauth_grants::Column::UserId.eq(DbId(user)))
            .filter(oauth_grants::Column::RevokedAt.is_null())
            .exec_with_returning(self.conditional_write())
            .await
            .or_store_error()?;
        let ended: Vec<GrantId> = ended.into_iter().map(|grant| grant.id.0).collect();
        for grant in &ended {
            self.invalidate_caller(CallerChange::Grant(*grant));
        }
        // Codes that were handed out and not redeemed yet would lead to new grants.
        let denied = oauth_authorizations::Entity::update_many()
            .col_expr(oauth_authorizations::Column::Stage, Expr::value(Stage::Denied))
            .filter(oauth_authorizations::Column::Stage.eq(Stage::Allowed))
            .filter(oauth_authorizations::Column::WorkspaceId.eq(DbId(workspace)))
            .filter(oauth_authorizations::Column::UserId.eq(DbId(user)))
            .exec(self.conditional_write())
            .await
            .or_store_error()?;
        if !ended.is_empty() || denied.rows_affected > 0 {
            self.mark_written();
        }
        Ok(ended)
    }

    async fn extend_grant(
        &mut self,
        workspace: WorkspaceId,
        id: GrantId,
        expires_at: Timestamp,
    ) -> Result<(), StoreError> {
        self.invalidate_caller(CallerChange::Grant(id));
        oauth_grants::Entity::update_many()
            .col_expr(oauth_grants::Column::ExpiresAt, Expr::value(DbTime(expires_at)))
            .filter(oauth_grants::Column::Id.eq(DbId(id)))
            .filter(oauth_grants::Column::WorkspaceId.eq(DbId(workspace)))
            .exec(self.write())
            .await
            .or_store_error()?;
        Ok(())
    }

    async fn has_access(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let membership = members::Entity::find_by_id((DbId(workspace), DbId(user)))
            .filter(query::is_live_workspace(Expr::value(DbId(workspace))))
            .filter(unset_or_after(members::Column::AccessEndsAt, now));
        query::exists(membership, self.read()).await
    }

    async fn insert_access_token(&mut self, token: &AccessToken, digest: &Digest) -> Result<(), StoreError> {
        let row = oauth_access_tokens::ActiveModel {
            id: Set(DbId(token.id)),
            digest: Set(digest.as_bytes().to_vec()),
            grant_id: Set(DbId(token.grant)),
            workspace_id: Set(DbId(token.workspace)),
            access: Set(DbText(token.access)),
            prefix: Set(token.hint.prefix.clone()),
            last4: Set(token.hint.last4.clone()),
            created_at: Set(DbTime(token.created_at)),
            expires_at: Set(DbTime(token.expires_at)),
        };
        oauth_access_tokens::Entity::insert(row)
            .exec_without_returning(self.write())
            .await
            .or_store_error()?;
        Ok(())
    }

    async fn access_token(&mut self, candidates: &[Digest]) -> Result<Option<AccessToken>, StoreError> {
        let found = oauth_access_tokens::Entity::find()
            .filter(oauth_access_tokens::Column::Digest.is_in(digest_bytes(candidates)))
            .one(self.read())
            .await
            .or_store_error()?;
        Ok(found.map(AccessToken::from))
    }

    async fn delete_access_token(
        &mut self,
        workspace: WorkspaceId,
        token: TokenId,
    ) -> Result<(), StoreError> {
        self.invalidate_caller(CallerChange::AgentToken(token));
        oauth_access_tokens::Entity::delete_by_id(token)
            .filter(oauth_access_tokens::Column::WorkspaceId.eq(DbId(workspace)))
            .exec(self.write())
            .await
            .or_store_error()?;
        Ok(())
    }

    async fn insert_refresh_token(
        &mut self,
        token: &RefreshToken,
        digest: &Digest,
    ) -> Result<(), StoreError> {
        let spent = match token.state {
            RefreshTokenState::Current => None,
            RefreshTokenState::Rotated { at } => Some(DbTime(at)),
        };
        let row = oauth_refresh_tokens::ActiveModel {
            id: Set(DbId(token.id)),
            digest: Set(digest.as_bytes().to_vec()),
            grant_id: Set(DbId(token.grant)),
            workspace_id: Set(DbId(token.workspace)),
            generation: Set(token.generation),
            created_at: Set(DbTime(token.created_at)),
            spent_at: Set(spent),
        };
        oauth_refresh_tokens::Entity::insert(row)
            .exec_without_returning(self.write())
            .await
            .or_store_error()?;
        Ok(())
    }

    async fn refresh_token(&mut self, candidates: &[Digest]) -> Result<Option<RefreshToken>, StoreError> {
        let found = oauth_refresh_tokens::Entity::find()
            .filter(oauth_refresh_tokens::Column::Digest.is_in(digest_bytes(candidates)))
            .one(self.read())
            .await
            .or_store_error()?;
        Ok(found.map(RefreshToken::from))
    }

    async fn current_refresh_token(
        &mut self,
        workspace: WorkspaceId,
        grant: GrantId,
    ) -> Result<Option<RefreshToken>, StoreError> {
        let found = oauth_refresh_tokens::Entity::find()
            .filter(oauth_refresh_tokens::Column::GrantId.eq(DbId(grant)))
            .filter(oauth_refresh_tokens::Column::WorkspaceId.eq(DbId(workspace)))
            .filter(oauth_refresh_tokens::Column::SpentAt.is_null())
            .one(self.read())
            .await
            .or_store_error()?;
        Ok(found.map(RefreshToken::from))
    }

    async fn mark_refresh_token_rotated(
        &mut self,
        workspace: WorkspaceId,
        token: TokenId,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        oauth_refresh_tokens::Entity::update_many()
            .col_expr(oauth_refresh_tokens::Column::SpentAt, Expr::value(DbTime(at)))
            .filter(oauth_refresh_tokens::Column::Id.eq(DbId(token)))
            .filter(oauth_refresh_tokens::Column::WorkspaceId.eq(DbId(workspace)))
            .exec(self.write())
            .await
            .or_store_error()?;
        Ok(())
    }
}
