//! Last uses of credentials, collected in memory and written every few seconds.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Mutex, PoisonError},
};

use kernel::{
    Timestamp,
    id::{GrantId, ProjectKeyId, SessionId, TokenId},
};

/// Credentials with the time of their last use.
#[derive(Debug, Default)]
pub struct LastUsed {
    /// Personal access tokens.
    pub tokens: Vec<(TokenId, Timestamp)>,
    /// Project keys.
    pub keys: Vec<(ProjectKeyId, Timestamp)>,
    /// Console sessions.
    pub sessions: Vec<(SessionId, Timestamp)>,
    /// Grants of agent clients.
    pub grants: Vec<(GrantId, Timestamp)>,
}

/// Uses that are not written yet.
#[derive(Default)]
pub(super) struct LastUsedBuffer {
    tokens: Uses<TokenId>,
    keys: Uses<ProjectKeyId>,
    sessions: Uses<SessionId>,
    grants: Uses<GrantId>,
}

impl LastUsedBuffer {
    pub(super) fn record_token(&self, token: TokenId, now: Timestamp) {
        self.tokens.record(token, now);
    }

    pub(super) fn record_key(&self, key: ProjectKeyId, now: Timestamp) {
        self.keys.record(key, now);
    }

    pub(super) fn record_session(&self, session: SessionId, now: Timestamp) {
        self.sessions.record(session, now);
    }

    pub(super) fn record_grant(&self, grant: GrantId, now: Timestamp) {
        self.grants.record(grant, now);
    }

    /// Takes the uses since the last call.
    pub(super) fn take(&self) -> LastUsed {
        LastUsed {
            tokens: self.tokens.take(),
            keys: self.keys.take(),
            sessions: self.sessions.take(),
            grants: self.grants.take(),
        }
    }
}

struct Uses<K>(Mutex<HashMap<K, Timestamp>>);

impl<K> Default for Uses<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Hash + Eq> Uses<K> {
    fn record(&self, id: K, now: Timestamp) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(id, now);
    }

    fn take(&self) -> Vec<(K, Timestamp)> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_iter().collect()
    }
}
