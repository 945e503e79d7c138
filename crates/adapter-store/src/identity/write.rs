//! Writes of people, sessions and tokens.

use ::identity::{Email, IdentityTx, User, sessions::Session, sign_in::EmailSignIn, tokens::Token};
use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    id::{SessionId, TokenId, UserId, WorkspaceId},
    token::Digest,
};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait as _, EntityTrait as _, QueryFilter as _, QueryOrder as _, QuerySelect as _,
    sea_query::{Expr, ExprTrait as _, OnConflict},
};

use super::models;
use crate::{
    caller_cache::CallerChange,
    convert::digest_bytes,
    entity::{
        column::{DbId, DbText, DbTime},
        sessions, sign_ins, tokens, users,
    },
    error::OrStoreError as _,
    query::{self, ROW_LOCK, unset_or_after},
    tx::StoreTx,
};

#[span_macros::traced]
#[async_trait]
impl IdentityTx for StoreTx {
    async fn find_user_by_email(&mut self, email: &Email) -> Result<Option<User>, StoreError> {
        let found = users::Entity::find()
            .filter(users::Column::Email.is_in(kernel::email_address::legacy_spellings(email.as_str())))
            .order_by_asc(users::Column::Id)
            .all(self.read())
            .await
            .or_store_error()?;
        // Before addresses were folded, one mailbox could have several people; the one that is spelled so goes first.
        let exact = found.iter().position(|user| user.email == email.as_str()).unwrap_or_default();
        found.into_iter().nth(exact).map(models::user).transpose()
    }

    async fn insert_user(&mut self, user: &User) -> Result<(), StoreError> {
        let row = users::ActiveModel {
            id: Set(DbId(user.id)),
            email: Set(user.email.to_string()),
            name: Set(user.name.clone()),
            created_at: Set(DbTime(user.created_at)),
        };
        users::Entity::insert(row).exec_without_returning(self.write()).await.or_store_error()?;
        Ok(())
    }

    async fn upsert_sign_in(&mut self, sign_in: &EmailSignIn) -> Result<(), StoreError> {
        let row = sign_ins::ActiveModel {
            email: Set(sign_in.email.to_string()),
            code_digest: Set(sign_in.code.as_bytes().to_vec()),
            link_digest: Set(sign_in.link.map(|digest| digest.as_bytes().to_vec())),
            tries_left: Set(i16::from(sign_in.attempts_left)),
            expires_at: Set(DbTime(sign_in.expires_at)),
        };
        let replace = OnConflict::column(sign_ins::Column::Email)
            .update_columns([
                sign_ins::Column::CodeDigest,
                sign_ins::Column::LinkDigest,
                sign_ins::Column::TriesLeft,
                sign_ins::Column::ExpiresAt,
            ])
            .to_owned();
        sign_ins::Entity::insert(row)
            .on_conflict(replace)
            .exec_without_returning(self.write())
            .await
            .or_store_error()?;
        Ok(())
    }

    async fn find_sign_in(&mut self, email: &Email) -> Result<Option<EmailSignIn>, StoreError> {
        let found = sign_ins::Entity::find_by_id(email.as_str())
            .lock_exclusive()
            .one(self.read())
            .await
            .or_store_error()?;
        found.as_ref().map(models::sign_in).transpose()
    }

    async fn find_sign_in_by_link(
        &mut self,
        candidates: &[Digest],
    ) -> Result<Option<EmailSignIn>, StoreError> {
        let found = sign_ins::Entity::find()
            .filter(sign_ins::Column::LinkDigest.is_in(digest_bytes(candidates)))
            .lock_exclusive()
            .one(self.read())
            .await
            .or_store_error()?;
        found.as_ref().map(models::sign_in).transpose()
    }

    async fn delete_sign_in(&mut self, email: &Email) -> Result<(), StoreError> {
        sign_ins::Entity::delete_by_id(email.as_str()).exec(self.write()).await.or_store_error()?;
        Ok(())
    }

    async fn insert_session(&mut self, session: &Session, digest: &Digest) -> Result<(), StoreError> {
        let row = sessions::ActiveModel {
            id: Set(DbId(session.id)),
            digest: Set(digest.as_bytes().to_vec()),
            user_id: Set(DbId(session.user)),
            workspace_id: Set(session.workspace.map(DbId)),
            dev_login: Set(session.is_dev_login),
            created_at: Set(DbTime(session.created_at)),
            expires_at: Set(DbTime(session.expires_at)),
            last_seen_at: Set(Some(DbTime(session.last_seen_at))),
            address: Set(session.client_ip.map(DbText)),
            device: Set(session.device.clone()),
            method: Set(Some(DbText(session.method))),
            auth_at: Set(Some(DbTime(session.authenticated_at))),
            stepped_up_at: Set(session.stepped_up_at.map(DbTime)),
        };
        sessions::Entity::insert(row).exec_without_returning(self.write()).await.or_store_error()?;
        Ok(())
    }

    async fn set_session_workspace(
        &mut self,
        session: SessionId,
        workspace: WorkspaceId,
    ) -> Result<(), StoreError> {
        sessions::Entity::update_many()
            .col_expr(sessions::Column::WorkspaceId, Expr::value(workspace.uuid()))
            .filter(sessions::Column::Id.eq(DbId(session)))
            .exec(self.write())
            .await
            .or_store_error()?;
        self.invalidate_caller(CallerChange::Session(session));
        Ok(())
    }

    async fn delete_session(&mut self, session: SessionId) -> Result<bool, StoreError> {
        let deleted =
            sessions::Entity::delete_by_id(session).exec(self.conditional_write()).await.or_store_error()?;
        if deleted.rows_affected == 0 {
            return Ok(false);
        }
        self.mark_written();
        self.invalidate_caller(CallerChange::Session(session));
        Ok(true)
    }

    async fn count_tokens(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        // Whoever adds another at the same time waits here.
        users::Entity::find_by_id(user).lock(ROW_LOCK).one(self.read()).await.or_store_error()?;
        let valid = tokens::Entity::find()
            .filter(tokens::Column::WorkspaceId.eq(DbId(workspace)))
            .filter(tokens::Column::UserId.eq(DbId(user)))
            .filter(tokens::Column::RevokedAt.is_null())
            .filter(unset_or_after(tokens::Column::ExpiresAt, now));
        query::count(valid, self.read()).await
    }

    async fn insert_token(&mut self, token: &Token, digest: &Digest) -> Result<(), StoreError> {
        let row = tokens::ActiveModel {
            id: Set(DbId(token.id)),
            digest: Set(digest.as_bytes().to_vec()),
            workspace_id: Set(DbId(token.workspace)),
            user_id: Set(DbId(token.user)),
            name: Set(token.name.clone()),
            scopes: Set(DbText(token.scopes)),
            prefix: Set(token.hint.prefix.clone()),
            last4: Set(token.hint.last4.clone()),
            created_at: Set(DbTime(token.created_at)),
            last_used_at: Set(token.last_used_at.map(DbTime)),
            expires_at: Set(token.expires_at.map(DbTime)),
            revoked_at: Set(token.revoked_at.map(DbTime)),
        };
        tokens::Entity::insert(row).exec_without_returning(self.write()).await.or_store_error()?;
        Ok(())
    }

    async fn revoke_token(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
        token: TokenId,
        at: Timestamp,
    ) -> Result<Option<Token>, StoreError> {
        let mine = || {
            tokens::Column::Id
                .eq(DbId(token))
                .and(tokens::Column::WorkspaceId.eq(DbId(workspace)))
                .and(tokens::Column::UserId.eq(DbId(user)))
        };
        tokens::Entity::update_many()
            .col_expr(tokens::Column::RevokedAt, Expr::value(DbTime(at)))
            .filter(mine())
            .filter(tokens::Column::RevokedAt.is_null())
            .exec(self.write())
            .await
            .or_store_error()?;
        self.invalidate_caller(CallerChange::Token(token));
        let found = tokens::Entity::find().filter(mine()).one(self.read()).await.or_store_error()?;
        Ok(found.map(Token::from))
    }
}
