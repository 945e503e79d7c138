//! Reads of agent clients.

use std::sync::Arc;

use ::identity::oauth::{AccessToken, Client, Grant, OAuthRead, ports::GrantUse};
use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    id::{GrantId, OAuthClientId, TokenId, UserId, WorkspaceId},
    token::Digest,
};
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _, QueryOrder as _, QuerySelect as _};

use crate::{
    Store,
    entity::{oauth_access_tokens, oauth_clients, oauth_grants},
    error::OrStoreError as _,
    identity::{digest, digests},
    remembered::Held,
    sql::{Sql, in_few_shapes, latest},
};

/// More grants than a person has use for; a list is never longer.
const MAX_GRANTS: u64 = 500;

impl Store {
    async fn grant_of(&self, workspace: WorkspaceId, grant: GrantId) -> Result<Option<Grant>, StoreError> {
        let found = oauth_grants::Entity::find_by_id(grant.uuid())
            .filter(oauth_grants::Column::WorkspaceId.eq(workspace.uuid()))
            .one(self.read())
            .await
            .or_store_error()?;
        found.map(super::grant).transpose()
    }
}

#[async_trait]
impl OAuthRead for Store {
    async fn registered_client(&self, id: OAuthClientId) -> Result<Option<Client>, StoreError> {
        let found = oauth_clients::Entity::find_by_id(id.uuid()).one(self.read()).await.or_store_error()?;
        found.map(super::client).transpose()
    }

    async fn access_token_by_digest(
        &self,
        candidates: &[Digest],
    ) -> Result<Option<(AccessToken, Grant)>, StoreError> {
        let reading = self.remembered().await;
        let held = match reading.found(|all| &all.agent_tokens, candidates) {
            Some(held) => held,
            None => {
                let found = oauth_access_tokens::Entity::find()
                    .filter(oauth_access_tokens::Column::Digest.is_in(digests(candidates)))
                    .one(self.read())
                    .await
                    .or_store_error()?;
                let Some(model) = found else { return Ok(None) };
                let digest = digest("oauth_access_tokens", model.id, &model.digest)?;
                let held = Arc::new(Held { digest, value: super::access_token(model)? });
                reading.keep_held(|all| &all.agent_tokens, held.value.id, &held);
                held
            }
        };
        let token = held.value.clone();
        if let Some(grant) = reading.get(|all| &all.grants, &token.grant) {
            return Ok(Some((token, Grant::clone(&grant))));
        }
        let Some(grant) = self.grant_of(token.workspace, token.grant).await? else { return Ok(None) };
        reading.keep_value(|all| &all.grants, grant.id, Arc::new(grant.clone()));
        Ok(Some((token, grant)))
    }

    async fn access_token_of(
        &self,
        workspace: WorkspaceId,
        token: TokenId,
    ) -> Result<Option<(AccessToken, Grant)>, StoreError> {
        let reading = self.remembered().await;
        if let Some(held) = reading.get(|all| all.agent_tokens.records(), &token)
            && held.value.workspace == workspace
            && let Some(grant) = reading.get(|all| &all.grants, &held.value.grant)
        {
            return Ok(Some((held.value.clone(), Grant::clone(&grant))));
        }
        let found = oauth_access_tokens::Entity::find_by_id(token.uuid())
            .filter(oauth_access_tokens::Column::WorkspaceId.eq(workspace.uuid()))
            .one(self.read())
            .await
            .or_store_error()?;
        let Some(token) = found.map(super::access_token).transpose()? else { return Ok(None) };
        Ok(self.grant_of(workspace, token.grant).await?.map(|grant| (token, grant)))
    }

    async fn oauth_grants(&self, workspace: WorkspaceId, user: UserId) -> Result<Vec<Grant>, StoreError> {
        let found = oauth_grants::Entity::find()
            .filter(oauth_grants::Column::WorkspaceId.eq(workspace.uuid()))
            .filter(oauth_grants::Column::UserId.eq(user.uuid()))
            .order_by_desc(oauth_grants::Column::Id)
            .limit(MAX_GRANTS)
            .all(self.read())
            .await
            .or_store_error()?;
        found.into_iter().map(super::grant).collect()
    }
}

#[async_trait]
impl GrantUse for Store {
    async fn touch_grants(&self, uses: &[(GrantId, Timestamp)]) -> Result<(), StoreError> {
        for uses in in_few_shapes(&latest(uses)) {
            let mut sql = Sql::new("WITH used (id, at) AS (VALUES ");
            sql.rows(uses, |sql, (id, at)| {
                sql.bind(*id).push(", ").bind(*at);
            });
            sql.push(
                ") UPDATE oauth_grants SET last_used_at = used.at FROM used WHERE oauth_grants.id = used.id \
                 AND (oauth_grants.last_used_at IS NULL OR oauth_grants.last_used_at < used.at)",
            );
            sql.execute(&self.write()).await?;
        }
        Ok(())
    }
}
