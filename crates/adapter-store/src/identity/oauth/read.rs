//! Reads of agent clients.

use std::sync::Arc;

use ::identity::oauth::{AccessToken, Client, Grant, OAuthRead, ports::GrantUsageWriter};
use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    id::{GrantId, OAuthClientId, TokenId, UserId, WorkspaceId},
    page::PageRequest,
    token::Digest,
};
use sea_orm::{
    ColumnTrait as _, EntityTrait as _, QueryFilter as _, QueryOrder as _, QuerySelect as _, QueryTrait as _,
};

use super::models;
use crate::{
    caller_cache::{CachedRecord, digest_keys},
    convert::{RowContext, digest_bytes, parse_digest},
    entity::{column::DbId, oauth_access_tokens, oauth_clients, oauth_grants},
    error::OrStoreError as _,
    store::Store,
};

impl Store {
    async fn find_grant(&self, workspace: WorkspaceId, grant: GrantId) -> Result<Option<Grant>, StoreError> {
        let found = oauth_grants::Entity::find_by_id(grant)
            .filter(oauth_grants::Column::WorkspaceId.eq(DbId(workspace)))
            .one(self.read())
            .await
            .or_store_error()?;
        Ok(found.map(Grant::from))
    }
}

#[span_macros::traced]
#[async_trait]
impl OAuthRead for Store {
    async fn registered_client(&self, id: OAuthClientId) -> Result<Option<Client>, StoreError> {
        let found = oauth_clients::Entity::find_by_id(id).one(self.read()).await.or_store_error()?;
        found.map(models::client).transpose()
    }

    async fn access_token_by_digest(
        &self,
        candidates: &[Digest],
    ) -> Result<Option<(AccessToken, Grant)>, StoreError> {
        let cache = self.cache_view().await;
        let record = match cache.get_by_digest(|all| &all.agent_tokens, digest_keys(candidates)) {
            Some(record) => record,
            None => {
                let found = oauth_access_tokens::Entity::find()
                    .filter(oauth_access_tokens::Column::Digest.is_in(digest_bytes(candidates)))
                    .one(self.read())
                    .await
                    .or_store_error()?;
                let Some(model) = found else { return Ok(None) };
                let digest = parse_digest(RowContext::new("oauth_access_tokens", model.id), &model.digest)?;
                let record = Arc::new(CachedRecord { digest, value: AccessToken::from(model) });
                cache.insert_record(|all| &all.agent_tokens, record.value.id, &record);
                record
            }
        };
        let token = record.value.clone();
        if let Some(grant) = cache.get(|all| &all.grants, &token.grant) {
            return Ok(Some((token, Grant::clone(&grant))));
        }
        let Some(grant) = self.find_grant(token.workspace, token.grant).await? else { return Ok(None) };
        cache.insert(|all| &all.grants, grant.id, Arc::new(grant.clone()));
        Ok(Some((token, grant)))
    }

    async fn access_token_of(
        &self,
        workspace: WorkspaceId,
        token: TokenId,
    ) -> Result<Option<(AccessToken, Grant)>, StoreError> {
        let cache = self.cache_view().await;
        if let Some(record) = cache.get(|all| all.agent_tokens.records(), &token)
            && record.value.workspace == workspace
            && let Some(grant) = cache.get(|all| &all.grants, &record.value.grant)
        {
            return Ok(Some((record.value.clone(), Grant::clone(&grant))));
        }
        let found = oauth_access_tokens::Entity::find_by_id(token)
            .filter(oauth_access_tokens::Column::WorkspaceId.eq(DbId(workspace)))
            .one(self.read())
            .await
            .or_store_error()?;
        let Some(token) = found.map(AccessToken::from) else { return Ok(None) };
        Ok(self.find_grant(workspace, token.grant).await?.map(|grant| (token, grant)))
    }

    async fn client_names(
        &self,
        workspace: WorkspaceId,
        grants: &[GrantId],
    ) -> Result<Vec<(GrantId, String)>, StoreError> {
        if grants.is_empty() {
            return Ok(Vec::new());
        }
        let found = oauth_grants::Entity::find()
            .filter(oauth_grants::Column::WorkspaceId.eq(DbId(workspace)))
            .filter(oauth_grants::Column::Id.is_in(grants.iter().copied().map(DbId)))
            .all(self.read())
            .await
            .or_store_error()?;
        Ok(found.into_iter().map(|grant| (grant.id.0, grant.client_name)).collect())
    }

    async fn oauth_grants(
        &self,
        workspace: WorkspaceId,
        user: UserId,
        page: PageRequest,
    ) -> Result<Vec<Grant>, StoreError> {
        let found = oauth_grants::Entity::find()
            .filter(oauth_grants::Column::WorkspaceId.eq(DbId(workspace)))
            .filter(oauth_grants::Column::UserId.eq(DbId(user)))
            .apply_if(page.after, |query, after| query.filter(oauth_grants::Column::Id.lt(after)))
            .order_by_desc(oauth_grants::Column::Id)
            .limit(u64::from(page.limit) + 1)
            .all(self.read())
            .await
            .or_store_error()?;
        Ok(found.into_iter().map(Grant::from).collect())
    }
}

#[span_macros::traced]
#[async_trait]
impl GrantUsageWriter for Store {
    async fn touch_grants(&self, uses: &[(GrantId, Timestamp)]) -> Result<(), StoreError> {
        self.touch(oauth_grants::Entity, oauth_grants::Column::LastUsedAt, uses).await
    }
}
