//! Reads of people, sessions and tokens.

use std::sync::Arc;

use ::identity::{IdentityRead, User, ports::TokenUsageWriter, sessions::Session, tokens::Token};
use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    id::{TokenId, UserId, WorkspaceId},
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
    entity::{column::DbId, sessions, tokens, users},
    error::OrStoreError as _,
    store::Store,
};

#[span_macros::traced]
#[async_trait]
impl IdentityRead for Store {
    async fn user(&self, id: UserId) -> Result<Option<User>, StoreError> {
        let cache = self.cache_view().await;
        if let Some(user) = cache.get(|all| &all.users, &id) {
            return Ok(Some(User::clone(&user)));
        }
        let found = users::Entity::find_by_id(id).one(self.read()).await.or_store_error()?;
        let user = found.map(models::user).transpose()?;
        if let Some(user) = &user {
            cache.insert(|all| &all.users, id, Arc::new(user.clone()));
        }
        Ok(user)
    }

    async fn session_by_digest(&self, candidates: &[Digest]) -> Result<Option<Session>, StoreError> {
        let cache = self.cache_view().await;
        if let Some(record) = cache.get_by_digest(|all| &all.sessions, digest_keys(candidates)) {
            return Ok(Some(record.value.clone()));
        }
        let found = sessions::Entity::find()
            .filter(sessions::Column::Digest.is_in(digest_bytes(candidates)))
            .one(self.read())
            .await
            .or_store_error()?;
        let Some(model) = found else { return Ok(None) };
        let record = Arc::new(CachedRecord {
            digest: parse_digest(RowContext::new("sessions", model.id), &model.digest)?,
            value: Session::from(model),
        });
        cache.insert_record(|all| &all.sessions, record.value.id, &record);
        Ok(Some(record.value.clone()))
    }

    async fn token_by_digest(&self, candidates: &[Digest]) -> Result<Option<Token>, StoreError> {
        let cache = self.cache_view().await;
        if let Some(record) = cache.get_by_digest(|all| &all.tokens, digest_keys(candidates)) {
            return Ok(Some(record.value.clone()));
        }
        let found = tokens::Entity::find()
            .filter(tokens::Column::Digest.is_in(digest_bytes(candidates)))
            .one(self.read())
            .await
            .or_store_error()?;
        let Some(model) = found else { return Ok(None) };
        let record = Arc::new(CachedRecord {
            digest: parse_digest(RowContext::new("tokens", model.id), &model.digest)?,
            value: Token::from(model),
        });
        cache.insert_record(|all| &all.tokens, record.value.id, &record);
        Ok(Some(record.value.clone()))
    }

    async fn token(&self, id: TokenId) -> Result<Option<Token>, StoreError> {
        let cache = self.cache_view().await;
        if let Some(record) = cache.get(|all| all.tokens.records(), &id) {
            return Ok(Some(record.value.clone()));
        }
        let found = tokens::Entity::find_by_id(id).one(self.read()).await.or_store_error()?;
        Ok(found.map(Token::from))
    }

    async fn tokens(
        &self,
        workspace: WorkspaceId,
        user: UserId,
        page: PageRequest,
    ) -> Result<Vec<Token>, StoreError> {
        let found = tokens::Entity::find()
            .filter(tokens::Column::WorkspaceId.eq(DbId(workspace)))
            .filter(tokens::Column::UserId.eq(DbId(user)))
            .apply_if(page.after, |query, after| query.filter(tokens::Column::Id.lt(after)))
            .order_by_desc(tokens::Column::Id)
            .limit(u64::from(page.limit) + 1)
            .all(self.read())
            .await
            .or_store_error()?;
        Ok(found.into_iter().map(Token::from).collect())
    }
}

#[span_macros::traced]
#[async_trait]
impl TokenUsageWriter for Store {
    async fn touch_tokens(&self, uses: &[(TokenId, Timestamp)]) -> Result<(), StoreError> {
        self.touch(tokens::Entity, tokens::Column::LastUsedAt, uses).await
    }
}
