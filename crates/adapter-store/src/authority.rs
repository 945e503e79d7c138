//! Facts of authority, read and locked in the transaction that uses the proofs. No cache is asked: another node may have
//! changed them within the last second.

use ::identity::{sessions::Session, tokens::Token};
use async_trait::async_trait;
use kernel::{
    Caller, StoreError, Timestamp,
    authority::{AppFact, AppRights, AuthorityTx, MembershipFact},
    caller::TokenCaller,
    id::{AppId, GrantId, UserId, WorkspaceId},
};
use sea_orm::{
    ColumnTrait as _, EntityTrait as _, QueryFilter as _, QuerySelect as _,
    sea_query::{Expr, LockType},
};

use crate::{
    convert::RowContext,
    entity::{
        app_grants, apps,
        column::{DbId, DbTime},
        members, oauth_access_tokens, oauth_grants, sessions, tokens,
    },
    error::OrStoreError as _,
    query::is_live_workspace,
    tx::StoreTx,
};

/// Keeps rows as they are until the transaction ends, and lets others read and keep them too. SQLite, which has one
/// writer, takes no locks.
const KEEP: LockType = LockType::Share;

#[span_macros::traced]
#[async_trait]
impl AuthorityTx for StoreTx {
    async fn lock_credential(&mut self, caller: &Caller, now: Timestamp) -> Result<bool, StoreError> {
        match caller {
            Caller::Session(session) => {
                let found = sessions::Entity::find_by_id(session.session).lock(KEEP).one(self.read()).await;
                let current = found.or_store_error()?.and_then(|model| Session::from(model).caller(now));
                Ok(current.is_some_and(|current| current.user == session.user))
            }
            Caller::Token(token) => {
                if let Some(grant) = token.grant {
                    return lock_agent_token(self, token, grant, now).await;
                }
                let found = tokens::Entity::find_by_id(token.token).lock(KEEP).one(self.read()).await;
                let current = found.or_store_error()?.and_then(|model| Token::from(model).caller(now));
                Ok(current.is_some_and(|current| current == *token))
            }
            // Nobody can revoke these; what they may do is decided elsewhere.
            Caller::System(_) => Ok(true),
            Caller::Anonymous | Caller::ProjectKey(_) => Ok(false),
        }
    }

    async fn lock_membership(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
    ) -> Result<Option<MembershipFact>, StoreError> {
        let found = members::Entity::find_by_id((DbId(workspace), DbId(user)))
            .filter(is_live_workspace(Expr::value(DbId(workspace))))
            .lock(KEEP)
            .one(self.read())
            .await
            .or_store_error()?;
        Ok(found.map(|model| MembershipFact {
            workspace,
            user,
            role: model.role.0,
            access_ends_at: model.access_ends_at.map(DbTime::into_inner),
        }))
    }

    async fn lock_app_fact(&mut self, app: AppId, user: UserId) -> Result<Option<AppFact>, StoreError> {
        // Those who grant rights on an app lock it as well. What follows changes the app.
        let found = apps::Entity::find_by_id(app)
            .filter(apps::Column::DeletedAt.is_null())
            .lock_exclusive()
            .one(self.read())
            .await
            .or_store_error()?;
        let Some(found) = found else { return Ok(None) };
        let granted = app_grants::Entity::find()
            .filter(app_grants::Column::AppId.eq(DbId(app)))
            .filter(app_grants::Column::UserId.eq(DbId(user)))
            .one(self.read())
            .await
            .or_store_error()?;
        let row = RowContext::new("app_grants", app);
        let bits = granted.map(|grant| row.number(grant.rights.into())).transpose()?.unwrap_or_default();
        Ok(Some(AppFact {
            app,
            workspace: found.workspace_id.0,
            created_by: found.created_by.0,
            sharing: found.sharing.0,
            granted: AppRights::from_bits(bits),
        }))
    }
}

/// Returns `true` if neither the access token nor the grant of an agent has ended.
async fn lock_agent_token(
    tx: &mut StoreTx,
    token: &TokenCaller,
    grant: GrantId,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let found = oauth_grants::Entity::find_by_id(grant).lock(KEEP).one(tx.read()).await.or_store_error()?;
    let is_active = found.is_some_and(|grant| {
        let is_same = (grant.workspace_id.0, grant.user_id.0) == (token.workspace, token.user);
        is_same && grant.revoked_at.is_none() && now < grant.expires_at.0
    });
    let found = oauth_access_tokens::Entity::find_by_id(token.token).one(tx.read()).await.or_store_error()?;
    let is_current = found.is_some_and(|found| {
        found.grant_id.0 == grant && now < found.expires_at.0 && found.access.0.scopes() == token.scopes
    });
    Ok(is_active && is_current)
}
