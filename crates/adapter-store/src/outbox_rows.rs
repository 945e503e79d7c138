//! Inserts e-mails into the outbox.

use kernel::{StoreError, mail::OutboxEmail};
use sea_orm::{ActiveValue::Set, DatabaseTransaction, EntityTrait as _};

use crate::{
    entity::{
        column::{DbId, DbTime},
        outbox,
    },
    error::OrStoreError as _,
    sql::statement_chunks,
};

/// Inserts e-mails that are due at once.
pub(crate) async fn insert_emails(
    tx: &DatabaseTransaction,
    emails: &[OutboxEmail],
) -> Result<(), StoreError> {
    for chunk in statement_chunks(emails) {
        let rows = chunk.iter().map(|email| outbox::ActiveModel {
            id: Set(DbId(email.id)),
            kind: Set(email.kind.to_owned()),
            sealed: Set(email.sealed.clone()),
            created_at: Set(DbTime(email.created_at)),
            due_at: Set(DbTime(email.created_at)),
            give_up_at: Set(DbTime(email.expires_at)),
            attempts: Set(0),
        });
        outbox::Entity::insert_many(rows).exec_without_returning(tx).await.or_store_error()?;
    }
    Ok(())
}
