//! Writes of agent clients.

use ::identity::oauth::{
    AccessToken, Authorization, AuthorizationStage, Client, Grant, OAuthTx, RedirectUri, RefreshToken,
    grants::RefreshTokenState,
};
use async_trait::async_trait;
use kernel::{
    Id, StoreError, Timestamp,
    id::{AuthorizationId, GrantId, OAuthClientId, TokenId, UserId, WorkspaceId},
    token::Digest,
};
use sea_orm::{
    ActiveValue::{NotSet, Set},
    ColumnTrait as _, EntityTrait as _, QueryFilter as _, QuerySelect as _,
    sea_query::Expr,
};

use crate::{
    StoreTx,
    caller_cache::CallerChange,
    convert::{millis, to_json},
    entity::{oauth_access_tokens, oauth_authorizations, oauth_clients, oauth_grants, oauth_refresh_tokens},
    error::OrStoreError as _,
    identity::digest_bytes,
    sql::{Sql, column},
};

/// The columns of an authorization that follow from its stage.
fn with_stage_columns(
    row: oauth_authorizations::ActiveModel,
    stage: &AuthorizationStage,
) -> oauth_authorizations::ActiveModel {
    let (name, allowed) = match stage {
        AuthorizationStage::Pending => ("waiting", None),
        AuthorizationStage::Claimed { .. } => ("seen", None),
        AuthorizationStage::Denied { .. } => ("denied", None),
        AuthorizationStage::Allowed { consent: allowed, .. } => ("allowed", Some(allowed)),
        AuthorizationStage::Redeemed { consent: allowed, .. } => ("redeemed", Some(allowed)),
    };
    let until = if let AuthorizationStage::Allowed { code_expires_at: until, .. } = stage {
        Some(millis(*until))
    } else {
        None
    };
    let grant =
        if let AuthorizationStage::Redeemed { grant, .. } = stage { Some(grant.uuid()) } else { None };
    oauth_authorizations::ActiveModel {
        stage: Set(name.to_owned()),
        user_id: Set(stage.claimed_by().map(Id::uuid)),
        workspace_id: Set(allowed.map(|allowed| allowed.workspace.uuid())),
        access: Set(allowed.map(|allowed| allowed.access.to_string())),
        code_until: Set(until),
        grant_id: Set(grant),
        ..row
    }
}

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
            id: Set(id.uuid()),
            client_id: Set(client.snapshot.id.clone()),
            name: Set(client.snapshot.name.clone()),
            redirects: Set(to_json(&redirects)?),
            homepage_host: Set(client.homepage_host.clone()),
            created_at: Set(millis(at)),
        };
        oauth_clients::Entity::insert(row).exec_without_returning(self.write()).await.or_store_error()?;
        Ok(())
    }

    async fn insert_authorization(&mut self, authorization: &Authorization) -> Result<(), StoreError> {
        let row = oauth_authorizations::ActiveModel {
            id: Set(authorization.id.uuid()),
            client_id: Set(authorization.client.id.clone()),
            client_kind: Set(authorization.client.kind.as_str().to_owned()),
            client_name: Set(authorization.client.name.clone()),
            client_host: Set(authorization.client.host.clone()),
            homepage_host: Set(authorization.homepage_host.clone()),
            redirect: Set(authorization.redirect_uri.to_string()),
            state: Set(authorization.state.clone()),
            challenge: Set(authorization.challenge.as_bytes().to_vec()),
            audience: Set(authorization.audience.clone()),
            requested: Set(authorization.requested.to_string()),
            created_at: Set(millis(authorization.created_at)),
            expires_at: Set(millis(authorization.expires_at)),
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
        let found = oauth_authorizations::Entity::find_by_id(id.uuid())
            .lock_exclusive()
            .one(self.read())
            .await
            .or_store_error()?;
        found.map(super::authorization).transpose()
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
        found.map(super::authorization).transpose()
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
            .filter(oauth_authorizations::Column::Id.eq(id.uuid()))
            .exec(self.write())
            .await
            .or_store_error()?;
        Ok(())
    }

    async fn insert_grant(&mut self, grant: &Grant) -> Result<(), StoreError> {
        let row = oauth_grants::ActiveModel {
            id: Set(grant.id.uuid()),
            workspace_id: Set(grant.workspace.uuid()),
            user_id: Set(grant.user.uuid()),
            client_id: Set(grant.client.id.clone()),
            client_kind: Set(grant.client.kind.as_str().to_owned()),
            client_name: Set(grant.client.name.clone()),
            client_host: Set(grant.client.host.clone()),
            access: Set(grant.access.to_string()),
            audience: Set(grant.audience.clone()),
            created_at: Set(millis(grant.created_at)),
            last_used_at: Set(grant.last_used_at.map(millis)),
            expires_at: Set(millis(grant.expires_at)),
            revoked_at: Set(grant.revoked_at.map(millis)),
        };
        oauth_grants::Entity::insert(row).exec_without_returning(self.write()).await.or_store_error()?;
        Ok(())
    }

    async fn grant(&mut self, workspace: WorkspaceId, id: GrantId) -> Result<Option<Grant>, StoreError> {
        let found = oauth_grants::Entity::find_by_id(id.uuid())
            .filter(oauth_grants::Column::WorkspaceId.eq(workspace.uuid()))
            .lock_exclusive()
            .one(self.read())
            .await
            .or_store_error()?;
        found.map(super::grant).transpose()
    }

    async fn revoke_grant(
        &mut self,
        workspace: WorkspaceId,
        id: GrantId,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let ended = oauth_grants::Entity::update_many()
            .col_expr(oauth_grants::Column::RevokedAt, Expr::value(millis(at)))
            .filter(oauth_grants::Column::Id.eq(id.uuid()))
            .filter(oauth_grants::Column::WorkspaceId.eq(workspace.uuid()))
            .filter(oauth_grants::Column::RevokedAt.is_null())
            .exec(self.read())
            .await
            .or_store_error()?;
        if ended.rows_affected == 0 {
            return Ok(false);
        }
        self.write();
        self.invalidate_caller(CallerChange::Grant(id));
        Ok(true)
    }

    async fn revoke_grants(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
        at: Timestamp,
    ) -> Result<Vec<GrantId>, StoreError> {
        let mut sql = Sql::new("UPDATE oauth_grants SET revoked_at = ");
        sql.bind(millis(at)).push(" WHERE workspace_id = ").bind(workspace.uuid());
        sql.push(" AND user_id = ").bind(user.uuid()).push(" AND revoked_at IS NULL RETURNING id");
        let ended = sql.fetch_all(self.read()).await?;
        let ended: Vec<GrantId> =
            ended.iter().map(|row| Ok(Id::from_uuid(column(row, 0)?))).collect::<Result<_, StoreError>>()?;
        if !ended.is_empty() {
            self.write();
        }
        for grant in &ended {
            self.invalidate_caller(CallerChange::Grant(*grant));
        }
        let mut sql = Sql::new("UPDATE oauth_authorizations SET stage = 'denied' WHERE stage = 'allowed'");
        sql.push(" AND workspace_id = ").bind(workspace.uuid()).push(" AND user_id = ").bind(user.uuid());
        if sql.execute(self.read()).await? > 0 {
            self.write();
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
            .col_expr(oauth_grants::Column::ExpiresAt, Expr::value(millis(expires_at)))
            .filter(oauth_grants::Column::Id.eq(id.uuid()))
            .filter(oauth_grants::Column::WorkspaceId.eq(workspace.uuid()))
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
        let mut sql = Sql::new("SELECT 1 FROM members WHERE workspace_id = ");
        sql.bind(workspace.uuid()).push(" AND user_id = ").bind(user.uuid());
        sql.push(" AND (access_ends_at IS NULL OR access_ends_at > ").bind(millis(now)).push(")");
        Ok(sql.fetch_optional(self.read()).await?.is_some())
    }

    async fn insert_access_token(&mut self, token: &AccessToken, digest: &Digest) -> Result<(), StoreError> {
        let row = oauth_access_tokens::ActiveModel {
            id: Set(token.id.uuid()),
            digest: Set(digest.as_bytes().to_vec()),
            grant_id: Set(token.grant.uuid()),
            workspace_id: Set(token.workspace.uuid()),
            access: Set(token.access.to_string()),
            prefix: Set(token.hint.prefix.clone()),
            last4: Set(token.hint.last4.clone()),
            created_at: Set(millis(token.created_at)),
            expires_at: Set(millis(token.expires_at)),
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
        found.map(super::access_token).transpose()
    }

    async fn delete_access_token(
        &mut self,
        workspace: WorkspaceId,
        token: TokenId,
    ) -> Result<(), StoreError> {
        self.invalidate_caller(CallerChange::AgentToken(token));
        oauth_access_tokens::Entity::delete_by_id(token.uuid())
            .filter(oauth_access_tokens::Column::WorkspaceId.eq(workspace.uuid()))
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
            RefreshTokenState::Rotated { at } => Some(millis(at)),
        };
        let row = oauth_refresh_tokens::ActiveModel {
            id: Set(token.id.uuid()),
            digest: Set(digest.as_bytes().to_vec()),
            grant_id: Set(token.grant.uuid()),
            workspace_id: Set(token.workspace.uuid()),
            generation: Set(token.generation),
            created_at: Set(millis(token.created_at)),
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
        found.as_ref().map(super::refresh_token).transpose()
    }

    async fn current_refresh_token(
        &mut self,
        workspace: WorkspaceId,
        grant: GrantId,
    ) -> Result<Option<RefreshToken>, StoreError> {
        let found = oauth_refresh_tokens::Entity::find()
            .filter(oauth_refresh_tokens::Column::GrantId.eq(grant.uuid()))
            .filter(oauth_refresh_tokens::Column::WorkspaceId.eq(workspace.uuid()))
            .filter(oauth_refresh_tokens::Column::SpentAt.is_null())
            .one(self.read())
            .await
            .or_store_error()?;
        found.as_ref().map(super::refresh_token).transpose()
    }

    async fn mark_refresh_token_rotated(
        &mut self,
        workspace: WorkspaceId,
        token: TokenId,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        oauth_refresh_tokens::Entity::update_many()
            .col_expr(oauth_refresh_tokens::Column::SpentAt, Expr::value(millis(at)))
            .filter(oauth_refresh_tokens::Column::Id.eq(token.uuid()))
            .filter(oauth_refresh_tokens::Column::WorkspaceId.eq(workspace.uuid()))
            .exec(self.write())
            .await
            .or_store_error()?;
        Ok(())
    }
}
