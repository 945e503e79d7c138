//! Passkeys and their ceremonies.

use ::identity::{
    passkeys::{Ceremony, CeremonyPurpose, Passkey},
    ports::{PasskeyRead, PasskeyTx},
};
use async_trait::async_trait;
use kernel::{
    Id, StoreError, Timestamp,
    id::{CeremonyId, PasskeyId, UserId},
};
use sea_orm::{ActiveValue::Set, ColumnTrait as _, EntityTrait as _, QueryFilter as _, QueryOrder as _};
use uuid::Uuid;

use crate::{
    Store, StoreTx,
    convert::{RowContext, millis},
    entity::{passkey_ceremonies, passkeys},
    error::OrStoreError as _,
    sql::{Sql, column},
};

fn passkey(model: passkeys::Model) -> Result<Passkey, StoreError> {
    let row = RowContext { table: "passkeys", id: model.id };
    Ok(Passkey {
        id: Id::from_uuid(model.id),
        user: Id::from_uuid(model.user_id),
        name: model.name,
        credential_id: model.credential_id,
        credential: model.credential,
        created_at: row.timestamp(model.created_at)?,
        last_used_at: row.optional_timestamp(model.last_used_at)?,
    })
}

#[async_trait]
impl PasskeyRead for Store {
    async fn passkeys_of(&self, user: UserId) -> Result<Vec<Passkey>, StoreError> {
        let found = passkeys::Entity::find()
            .filter(passkeys::Column::UserId.eq(user.uuid()))
            .order_by_asc(passkeys::Column::Id)
            .all(self.read())
            .await
            .or_store_error()?;
        found.into_iter().map(passkey).collect()
    }
}

#[async_trait]
impl PasskeyTx for StoreTx {
    async fn insert_ceremony(&mut self, ceremony: &Ceremony) -> Result<(), StoreError> {
        let (kind, session) = match ceremony.purpose {
            CeremonyPurpose::Register(session) => ("register", Some(session)),
            CeremonyPurpose::SignIn => ("sign_in", None),
            CeremonyPurpose::StepUp(session) => ("step_up", Some(session)),
        };
        let row = passkey_ceremonies::ActiveModel {
            id: Set(ceremony.id.uuid()),
            kind: Set(kind.to_owned()),
            session_id: Set(session.map(Id::uuid)),
            state: Set(ceremony.state.clone()),
            expires_at: Set(millis(ceremony.expires_at)),
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
        let mut sql = Sql::new("DELETE FROM passkey_ceremonies WHERE id = ");
        sql.bind(id.uuid()).push(" AND expires_at > ").bind(millis(now));
        sql.push(" RETURNING kind, session_id, state, expires_at");
        let Some(found) = sql.fetch_optional(self.read()).await? else { return Ok(None) };
        self.write();
        let row = RowContext { table: "passkey_ceremonies", id: id.uuid() };
        let session: Option<Uuid> = column(&found, 1)?;
        let purpose = match (column::<String>(&found, 0)?.as_str(), session.map(Id::from_uuid)) {
            ("register", Some(session)) => CeremonyPurpose::Register(session),
            ("sign_in", None) => CeremonyPurpose::SignIn,
            ("step_up", Some(session)) => CeremonyPurpose::StepUp(session),
            (kind, _) => return Err(row.error(format_args!("{kind} does not fit its session"))),
        };
        Ok(Some(Ceremony {
            id,
            purpose,
            state: column(&found, 2)?,
            expires_at: row.timestamp(column(&found, 3)?)?,
        }))
    }

    async fn insert_passkey(&mut self, passkey: &Passkey) -> Result<(), StoreError> {
        let row = passkeys::ActiveModel {
            id: Set(passkey.id.uuid()),
            user_id: Set(passkey.user.uuid()),
            credential_id: Set(passkey.credential_id.clone()),
            name: Set(passkey.name.clone()),
            credential: Set(passkey.credential.clone()),
            created_at: Set(millis(passkey.created_at)),
            last_used_at: Set(passkey.last_used_at.map(millis)),
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
        let mut sql = Sql::new("UPDATE passkeys SET last_used_at = ");
        sql.bind(millis(at));
        if let Some(credential) = credential {
            sql.push(", credential = ").bind(credential);
        }
        sql.push(" WHERE credential_id = ").bind(credential_id.to_vec());
        sql.push(" AND user_id = ").bind(user.uuid());
        sql.execute(self.write()).await?;
        Ok(())
    }

    async fn delete_passkey(&mut self, user: UserId, passkey: PasskeyId) -> Result<bool, StoreError> {
        let deleted = passkeys::Entity::delete_by_id(passkey.uuid())
            .filter(passkeys::Column::UserId.eq(user.uuid()))
            .exec(self.read())
            .await
            .or_store_error()?;
        if deleted.rows_affected == 0 {
            return Ok(false);
        }
        self.write();
        Ok(true)
    }

    async fn delete_passkeys_of(&mut self, user: UserId) -> Result<u64, StoreError> {
        let deleted = passkeys::Entity::delete_many()
            .filter(passkeys::Column::UserId.eq(user.uuid()))
            .exec(self.write())
            .await
            .or_store_error()?;
        Ok(deleted.rows_affected)
    }
}
