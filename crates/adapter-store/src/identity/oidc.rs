//! Names by which OpenID Connect issuers know people.

use ::identity::{User, ports::OidcTx};
use async_trait::async_trait;
use kernel::{StoreError, Timestamp, id::UserId};
use sea_orm::{ActiveValue::Set, EntityTrait as _};

use super::models;
use crate::{
    entity::{
        column::{DbId, DbTime},
        identities, users,
    },
    error::OrStoreError as _,
    tx::StoreTx,
};

#[span_macros::traced]
#[async_trait]
impl OidcTx for StoreTx {
    async fn find_user_by_identity(
        &mut self,
        issuer: &str,
        subject: &str,
    ) -> Result<Option<User>, StoreError> {
        let key = (issuer.to_owned(), subject.to_owned());
        let known = identities::Entity::find_by_id(key).one(self.read()).await.or_store_error()?;
        let Some(known) = known else { return Ok(None) };
        let found = users::Entity::find_by_id(known.user_id).one(self.read()).await.or_store_error()?;
        found.map(models::user).transpose()
    }

    async fn insert_identity(
        &mut self,
        issuer: &str,
        subject: &str,
        user: UserId,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let row = identities::ActiveModel {
            issuer: Set(issuer.to_owned()),
            subject: Set(subject.to_owned()),
            user_id: Set(DbId(user)),
            created_at: Set(DbTime(at)),
        };
        identities::Entity::insert(row).exec_without_returning(self.write()).await.or_store_error()?;
        Ok(())
    }
}
