//! A store in memory.

mod devices;
mod oauth;
mod passkeys;
mod people;

use std::{collections::BTreeMap, fmt, sync::Mutex};

use async_trait::async_trait;
use chrono::TimeDelta;
use kernel::{
    StoreError, Timestamp,
    authority::MembershipFact,
    delegate_unit_of_work,
    id::{DeviceLoginId, OAuthClientId, SessionId, TokenId, UserId, WorkspaceId},
    testing::RecordingUnitOfWork,
    token::Digest,
};

use crate::{
    Email, IdentityTx, User,
    oauth::{AccessToken, Authorization, Client, Grant, RefreshToken},
    passkeys::{Ceremony, Passkey},
    ports::SessionTx,
    sessions::Session,
    sign_in::EmailSignIn,
    tokens::Token,
};

pub(crate) use devices::StoredDeviceLogin;

/// A store of plain collections, in the order in which rows were added. A commit and a rollback change nothing: a test
/// looks at the rows that a use case wrote.
#[derive(Debug, Default)]
pub(crate) struct FakeStore {
    pub(crate) work: RecordingUnitOfWork,
    /// True when every call fails with [`StoreError::Unavailable`].
    pub(crate) is_unavailable: bool,
    pub(crate) users: Vec<User>,
    /// A person whom another transaction adds right after the next lookup by address.
    pub(crate) racing_user: Option<User>,
    /// Issuer, subject and person.
    pub(crate) identities: Vec<(String, String, UserId)>,
    pub(crate) members: Vec<MembershipFact>,
    pub(crate) sign_ins: Vec<EmailSignIn>,
    pub(crate) sessions: Vec<(Session, Digest)>,
    pub(crate) tokens: Vec<(Token, Digest)>,
    pub(crate) ceremonies: Vec<Ceremony>,
    pub(crate) passkeys: Vec<Passkey>,
    pub(crate) device_logins: Vec<StoredDeviceLogin>,
    /// Time of the last poll and the interval from then on.
    pub(crate) polls: Mutex<BTreeMap<DeviceLoginId, (Timestamp, TimeDelta)>>,
    pub(crate) clients: Vec<(OAuthClientId, Client)>,
    /// Authorizations and the digests of their codes.
    pub(crate) authorizations: Vec<(Authorization, Option<Digest>)>,
    pub(crate) grants: Vec<Grant>,
    pub(crate) access_tokens: Vec<(AccessToken, Digest)>,
    pub(crate) refresh_tokens: Vec<(RefreshToken, Digest)>,
    /// Refresh tokens that another transaction leaves; this one sees them once it has locked a grant.
    pub(crate) racing_refresh_tokens: Option<Vec<(RefreshToken, Digest)>>,
}

delegate_unit_of_work!(FakeStore, work);

impl FakeStore {
    pub(crate) fn unavailable() -> Self {
        Self { is_unavailable: true, ..Self::default() }
    }

    fn check_available(&self) -> Result<(), StoreError> {
        if self.is_unavailable { Err(StoreError::Unavailable("down".into())) } else { Ok(()) }
    }

    /// Fails unless the audit entries are these, oldest first: action, actor and target, empty where there is none.
    #[track_caller]
    pub(crate) fn assert_audited(&self, expected: &[(&str, &dyn fmt::Display, &dyn fmt::Display)]) {
        let expected = expected.iter();
        let expected: Vec<_> = expected
            .map(|(action, actor, target)| [(*action).to_owned(), actor.to_string(), target.to_string()])
            .collect();
        let audited = self.work.audit.iter().map(|entry| {
            let target = entry.target.as_ref().map_or("", |target| target.0.as_str());
            [entry.action.to_string(), entry.actor.to_string(), target.to_owned()]
        });
        assert_eq!(audited.collect::<Vec<_>>(), expected);
    }

    /// Fails when an audit entry holds one of these secrets.
    #[track_caller]
    pub(crate) fn assert_not_audited(&self, secrets: &[&str]) {
        let audit = serde_json::to_string(&self.work.audit).unwrap();
        for secret in secrets {
            assert!(!secret.is_empty() && !audit.contains(secret), "an audit entry holds a secret");
        }
    }

    /// Removes the sessions that `is_ended` accepts and returns their ids.
    fn end_sessions(&mut self, is_ended: impl Fn(&Session) -> bool) -> Vec<SessionId> {
        self.sessions
            .extract_if(.., |(session, _)| is_ended(session))
            .map(|(session, _)| session.id)
            .collect()
    }
}

#[async_trait]
impl IdentityTx for FakeStore {
    async fn find_user_by_email(&mut self, email: &Email) -> Result<Option<User>, StoreError> {
        self.check_available()?;
        let found = self.users.iter().find(|user| user.email == *email).cloned();
        self.users.extend(self.racing_user.take());
        Ok(found)
    }

    async fn insert_user(&mut self, user: &User) -> Result<(), StoreError> {
        self.check_available()?;
        if self.users.iter().any(|known| known.email == user.email) {
            return Err(StoreError::Duplicate);
        }
        self.users.push(user.clone());
        Ok(())
    }

    async fn upsert_sign_in(&mut self, sign_in: &EmailSignIn) -> Result<(), StoreError> {
        self.delete_sign_in(&sign_in.email).await?;
        self.sign_ins.push(sign_in.clone());
        Ok(())
    }

    async fn find_sign_in(&mut self, email: &Email) -> Result<Option<EmailSignIn>, StoreError> {
        self.check_available()?;
        Ok(self.sign_ins.iter().find(|known| known.email == *email).cloned())
    }

    async fn find_sign_in_by_link(&mut self, digests: &[Digest]) -> Result<Option<EmailSignIn>, StoreError> {
        self.check_available()?;
        let has_link = |known: &&EmailSignIn| known.link.is_some_and(|link| digests.contains(&link));
        Ok(self.sign_ins.iter().find(has_link).cloned())
    }

    async fn delete_sign_in(&mut self, email: &Email) -> Result<(), StoreError> {
        self.check_available()?;
        self.sign_ins.retain(|known| known.email != *email);
        Ok(())
    }

    async fn insert_session(&mut self, session: &Session, digest: &Digest) -> Result<(), StoreError> {
        self.check_available()?;
        self.sessions.push((session.clone(), *digest));
        Ok(())
    }

    async fn set_session_workspace(
        &mut self,
        session: SessionId,
        workspace: WorkspaceId,
    ) -> Result<(), StoreError> {
        self.check_available()?;
        for (known, _) in self.sessions.iter_mut().filter(|(known, _)| known.id == session) {
            known.workspace = Some(workspace);
        }
        Ok(())
    }

    async fn delete_session(&mut self, session: SessionId) -> Result<bool, StoreError> {
        self.check_available()?;
        Ok(!self.end_sessions(|known| known.id == session).is_empty())
    }

    async fn count_tokens(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        self.check_available()?;
        let of_person = |(token, _): &&(Token, Digest)| (token.workspace, token.user) == (workspace, user);
        Ok(self.tokens.iter().filter(of_person).filter(|(token, _)| token.caller(now).is_some()).count()
            as u64)
    }

    async fn insert_token(&mut self, token: &Token, digest: &Digest) -> Result<(), StoreError> {
        self.check_available()?;
        self.tokens.push((token.clone(), *digest));
        Ok(())
    }

    async fn revoke_token(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
        token: TokenId,
        at: Timestamp,
    ) -> Result<Option<Token>, StoreError> {
        self.check_available()?;
        let mut known = self.tokens.iter_mut().map(|(token, _)| token);
        let found = known.find(|known| (known.workspace, known.user, known.id) == (workspace, user, token));
        Ok(found.map(|token| {
            token.revoked_at.get_or_insert(at);
            token.clone()
        }))
    }
}

#[async_trait]
impl SessionTx for FakeStore {
    async fn delete_session_of(&mut self, user: UserId, session: SessionId) -> Result<bool, StoreError> {
        self.check_available()?;
        Ok(!self.end_sessions(|known| (known.user, known.id) == (user, session)).is_empty())
    }

    async fn delete_sessions_of(&mut self, user: UserId, keep: Option<SessionId>) -> Result<u64, StoreError> {
        self.check_available()?;
        Ok(self.end_sessions(|known| known.user == user && Some(known.id) != keep).len() as u64)
    }

    async fn delete_oldest_sessions_of(
        &mut self,
        user: UserId,
        keep: u64,
    ) -> Result<Vec<SessionId>, StoreError> {
        self.check_available()?;
        let mut own: Vec<_> =
            self.sessions.iter().map(|(known, _)| known).filter(|known| known.user == user).collect();
        own.sort_by_key(|known| std::cmp::Reverse((known.last_seen_at, known.id)));
        let ended: Vec<SessionId> = own.iter().skip(keep as usize).map(|known| known.id).collect();
        Ok(self.end_sessions(|known| ended.contains(&known.id)))
    }

    async fn record_step_up(
        &mut self,
        session: SessionId,
        digest: &Digest,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        self.check_available()?;
        let Some((known, secret)) = self.sessions.iter_mut().find(|(known, _)| known.id == session) else {
            return Ok(false);
        };
        known.stepped_up_at = Some(at);
        *secret = *digest;
        Ok(true)
    }
}
