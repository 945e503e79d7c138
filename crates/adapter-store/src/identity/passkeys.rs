//! Passkeys and their ceremonies.

use ::identity::{
    passkeys::{Ceremony, CeremonyPurpose, Passkey},
    ports::{PasskeyRead, PasskeyTx},
};
use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    id::{CeremonyId, PasskeyId, UserId},
};
use sea_orm::{
    ActiveValue::{NotSet, Set},
    ColumnTrait as _, EntityTrait as _, QueryFilter as _, QueryOrder as _,
};

use crate::{
    convert::RowContext,
    entity::{
        column::{DbId, DbTime},
        passkey_ceremonies::{self, CeremonyKind},
        passkeys,
    },
    error::OrStoreError as _,
    store::Store,
    tx::StoreTx,
};

impl From<passkeys::Model> for Passkey {
    fn from(model: passkeys::Model) -> Self {
        Self {
            id: model.id.0,
            user: model.user_id.0,
            name: model.name,
            credential_id: model.credential_id,
            credential: model.credential,
            created_at: model.created_at.0,
            last_used_at: model.last_used_at.map(DbTime::into_inner),
        }
    }
}

#[span_macros::traced]
#[async_trait]
impl PasskeyRead for Store {
    async fn passkeys_of(&self, user: UserId) -> Result<Vec<Passkey>, StoreError> {
        let found = passkeys::Entity::find()
            .filter(passkeys::Column::UserId.eq(DbId(user)))
            .order_by_asc(passkeys::Column::Id)
            .all(self.read())
            .await
            .or_store_error()?;
        Ok(found.into_iter().map(Passkey::from).collect())
    }
}

#[span_macros::traced]
#[async_trait]
impl PasskeyTx for StoreTx {
    async fn insert_ceremony(&mut self, ceremony: &Ceremony) -> Result<(), StoreError> {
        let (kind, session) = match ceremony.purpose {
            CeremonyPurpose::Register(session) => (CeremonyKind::Register, Some(session)),
            CeremonyPurpose::SignIn => (CeremonyKind::SignIn, None),
            CeremonyPurpose::StepUp(session) => (CeremonyKind::StepUp, Some(session)),
        };
        let row = passkey_ceremonies::ActiveModel {
            id: Set(DbId(ceremony.id)),
            kind: Set(kind),
            session_id: Set(session.map(DbId)),
            state: Set(ceremony.state.clone()),
            expires_at: Set(DbTime(ceremony.expires_at)),
        };
        passkey_ceremonies::Entity::insert(row)
            .exec_without_returning(self.write())
            .await
            .or_store_error()?;
        Ok(())
    }

    async fn consume_ceremony(
        &mut self,
        id: CeremonyId,
        now: Timestamp,
    ) -> Result<Option<Ceremony>, StoreError> {
        let consumed = passkey_ceremonies::Entity::delete_many()
            .filter(passkey_ceremonies::Column::Id.eq(DbId(id)))
            .filter(passkey_ceremonies::Column::ExpiresAt.gt(DbTime(now)))
            .exec_with_returning(self.conditional_write())
            .await
            .or_store_error()?;
        let Some(model) = consumed.into_iter().next() else { return Ok(None) };
        self.mark_written();
        let row = RowContext::new("passkey_ceremonies", id);
        let purpose = match (model.kind, model.session_id) {
            (CeremonyKind::Register, Some(session)) => CeremonyPurpose::Register(session.0),
            (CeremonyKind::SignIn, None) => CeremonyPurpose::SignIn,
            (CeremonyKind::StepUp, Some(session)) => CeremonyPurpose::StepUp(session.0),
            (kind, _) => return Err(row.error(format_args!("{kind:?} does not fit its session"))),
        };
        Ok(Some(Ceremony { id, purpose, state: model.state, expires_at: model.expires_at.0 }))
    }

    async fn insert_passkey(&mut self, passkey: &Passkey) -> Result<(), StoreError> {
        let row = passkeys::ActiveModel {
            id: Set(DbId(passkey.id)),
            user_id: Set(DbId(passkey.user)),
            credential_id: Set(passkey.credential_id.clone()),
            name: Set(passkey.name.clone()),
            credential: Set(passkey.credential.clone()),
            created_at: Set(DbTime(passkey.created_at)),
            last_used_at: Set(passkey.last_used_at.map(DbTime)),
        };
        passkeys::Entity::insert(row).exec_without_returning(self.write()).await.or_store_error()?;
        Ok(())
    }

    async fn record_passkey_use(
        &mut self,
        user: UserId,
        credential_id: &[u8],
        credential: Option<&str>,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let changes = passkeys::ActiveModel {
            last_used_at: Set(Some(DbTime(at))),
            credential: credential.map_or(NotSet, |credential| Set(credential.to_owned())),
            ..Default::default()
        };
        passkeys::Entity::update_many()
            .set(changes)
            .filter(passkeys::Column::CredentialId.eq(credential_id))
            .filter(passkeys::Column::UserId.eq(DbId(user)))
            .exec(self.write())
            .await
            .or_store_error()?;
        Ok(())
    }

    async fn delete_passkey(&mut self, user: UserId, passkey: PasskeyId) -> Result<bool, StoreError> {
        let deleted = passkeys::Entity::delete_by_id(passkey)
            .filter(passkeys::Column::UserId.eq(DbId(user)))
            .exec(self.conditional_write())
            .await
            .or_store_error()?;
        if deleted.rows_affected == 0 {
            return Ok(false);
        }
        self.mark_written();
        Ok(true)
    }

    async fn delete_passkeys_of(&mut self, user: UserId) -> Result<u64, StoreError> {
        let deleted = passkeys::Entity::delete_many()
            .filter(passkeys::Column::UserId.eq(DbId(user)))
            .exec(self.write())
            .await
            .or_store_error()?;
        Ok(deleted.rows_affected)
    }
}
