//! What every request asks about its caller, kept in memory: sessions, tokens, agents' grants, memberships, people,
//! workspaces.
//!
//! Whoever writes one of them says so with [`StoreTx::changed`](crate::StoreTx::changed). Once that is committed, this
//! process forgets it before the request is answered, and a row in `caller_changes` tells the others. A node looks at
//! those rows before it trusts its memory for more than [`TRUSTED`] without a look, so that a revocation holds
//! everywhere within a second; while it cannot look, it asks the database each time. An idle node looks at nothing.

use std::{
    collections::HashSet,
    hash::Hash,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use ::identity::{
    User,
    oauth::{AccessToken, Grant},
    sessions::Session,
    tokens::Token,
};
use ::workspace::Workspace;
use kernel::{
    Id, StoreError,
    authority::MembershipFact,
    id::{GrantId, SessionId, TokenId, UserId, WorkspaceId},
    token::Digest,
};
use moka::sync::Cache;
use sea_orm::DbBackend;
use uuid::Uuid;

use crate::{
    Store,
    sql::{Db, Sql, column, in_few_shapes},
};

/// How old the last look at others' changes may be.
const TRUSTED: Duration = Duration::from_millis(900);
/// From this age on the next look is taken, beside the request that noticed.
const STALE: Duration = Duration::from_millis(400);
/// How far back a look goes: longer than a transaction takes from its first write to its commit.
const WINDOW_MS: i64 = 60_000;
/// How many of each are kept.
const CAPACITY: u64 = 20_000;
/// What nobody asked for in this time is forgotten.
const IDLE: Duration = Duration::from_secs(600);

/// Something about callers that was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Change {
    Session(SessionId),
    Token(TokenId),
    Member(WorkspaceId, UserId),
    User(UserId),
    Workspace(WorkspaceId),
    /// An access token of an agent.
    AgentToken(TokenId),
    Grant(GrantId),
}

impl Change {
    fn columns(self) -> (i16, Uuid, Option<Uuid>) {
        match self {
            Self::Session(id) => (1, id.uuid(), None),
            Self::Token(id) => (2, id.uuid(), None),
            Self::Member(workspace, user) => (3, workspace.uuid(), Some(user.uuid())),
            Self::User(id) => (4, id.uuid(), None),
            Self::Workspace(id) => (5, id.uuid(), None),
            Self::AgentToken(id) => (6, id.uuid(), None),
            Self::Grant(id) => (7, id.uuid(), None),
        }
    }

    /// None for a kind that only a newer version knows.
    fn of_columns(kind: i16, subject: Uuid, beside: Option<Uuid>) -> Option<Self> {
        Some(match (kind, beside) {
            (1, _) => Self::Session(Id::from_uuid(subject)),
            (2, _) => Self::Token(Id::from_uuid(subject)),
            (3, Some(user)) => Self::Member(Id::from_uuid(subject), Id::from_uuid(user)),
            (4, _) => Self::User(Id::from_uuid(subject)),
            (5, _) => Self::Workspace(Id::from_uuid(subject)),
            (6, _) => Self::AgentToken(Id::from_uuid(subject)),
            (7, _) => Self::Grant(Id::from_uuid(subject)),
            _ => return None,
        })
    }
}

/// A record that is found by its digest, with the digest it is stored under now.
#[derive(Clone)]
pub(crate) struct Held<T> {
    pub(crate) digest: [u8; Digest::LEN],
    pub(crate) value: T,
}

/// Records by id, and ids by digest. What a digest leads to is compared with the record's own: a changed secret leaves
/// an old digest behind.
pub(crate) struct ByDigest<K, T> {
    ids: Cache<[u8; Digest::LEN], K>,
    records: Cache<K, Arc<Held<T>>>,
}

impl<K: Copy + Hash + Eq + Send + Sync + 'static, T: Send + Sync + 'static> ByDigest<K, T> {
    fn new() -> Self {
        Self { ids: cache(), records: cache() }
    }

    pub(crate) fn records(&self) -> &Cache<K, Arc<Held<T>>> {
        &self.records
    }

    fn get(&self, digests: &[Digest]) -> Option<Arc<Held<T>>> {
        digests.iter().find_map(|digest| {
            let held = self.records.get(&self.ids.get(digest.as_bytes())?)?;
            (held.digest == *digest.as_bytes()).then_some(held)
        })
    }

    fn keep(&self, id: K, held: &Arc<Held<T>>) {
        self.ids.insert(held.digest, id);
        self.records.insert(id, Arc::clone(held));
    }
}

fn cache<K: Hash + Eq + Send + Sync + 'static, V: Clone + Send + Sync + 'static>() -> Cache<K, V> {
    Cache::builder().max_capacity(CAPACITY).time_to_idle(IDLE).build()
}

pub(crate) struct Remembered {
    pub(crate) sessions: ByDigest<SessionId, Session>,
    pub(crate) tokens: ByDigest<TokenId, Token>,
    pub(crate) members: Cache<(WorkspaceId, UserId), Option<MembershipFact>>,
    pub(crate) users: Cache<UserId, Arc<User>>,
    pub(crate) workspaces: Cache<WorkspaceId, Arc<Workspace>>,
    pub(crate) agent_tokens: ByDigest<TokenId, AccessToken>,
    pub(crate) grants: Cache<GrantId, Arc<Grant>>,
    /// Counts what was forgotten, so that what was read before is not kept after.
    forgotten: AtomicU64,
    begun: Instant,
    /// Milliseconds after `begun` of the last look that succeeded, plus one; 0 before the first.
    looked: AtomicU64,
    /// Held while looking; the rows of the window that were seen already.
    seen: tokio::sync::Mutex<HashSet<i64>>,
}

impl Remembered {
    pub(crate) fn new() -> Self {
        Self {
            sessions: ByDigest::new(),
            tokens: ByDigest::new(),
            members: cache(),
            users: cache(),
            workspaces: cache(),
            agent_tokens: ByDigest::new(),
            grants: cache(),
            forgotten: AtomicU64::new(0),
            begun: Instant::now(),
            looked: AtomicU64::new(0),
            seen: tokio::sync::Mutex::default(),
        }
    }

    pub(crate) fn forget(&self, changes: impl IntoIterator<Item = Change>) {
        for change in changes {
            // Counted first: whoever read before this and keeps after it sees the count and lets go again.
            self.forgotten.fetch_add(1, Ordering::SeqCst);
            match change {
                Change::Session(id) => self.sessions.records.invalidate(&id),
                Change::Token(id) => self.tokens.records.invalidate(&id),
                Change::Member(workspace, user) => self.members.invalidate(&(workspace, user)),
                Change::User(id) => self.users.invalidate(&id),
                Change::Workspace(id) => self.workspaces.invalidate(&id),
                Change::AgentToken(id) => self.agent_tokens.records.invalidate(&id),
                Change::Grant(id) => self.grants.invalidate(&id),
            }
        }
    }

    /// How long ago the last successful look began.
    fn age(&self) -> Duration {
        match self.looked.load(Ordering::SeqCst).checked_sub(1) {
            Some(at) => self.begun.elapsed().saturating_sub(Duration::from_millis(at)),
            None => Duration::MAX,
        }
    }
}

/// Keeps what was read, unless something was forgotten meanwhile.
pub(crate) struct Reading<'a> {
    remembered: &'a Remembered,
    before: u64,
    /// Whether memory can be trusted now.
    trusted: bool,
}

impl Reading<'_> {
    fn keep(&self, keep: impl FnOnce(&Remembered), undo: impl FnOnce(&Remembered)) {
        if !self.trusted {
            return;
        }
        keep(self.remembered);
        if self.remembered.forgotten.load(Ordering::SeqCst) != self.before {
            undo(self.remembered);
        }
    }

    pub(crate) fn found<K, T>(
        &self,
        kind: impl Fn(&Remembered) -> &ByDigest<K, T>,
        digests: &[Digest],
    ) -> Option<Arc<Held<T>>>
    where
        K: Copy + Hash + Eq + Send + Sync + 'static,
        T: Send + Sync + 'static,
    {
        self.trusted.then(|| kind(self.remembered).get(digests)).flatten()
    }

    pub(crate) fn keep_held<K, T>(
        &self,
        kind: impl Fn(&Remembered) -> &ByDigest<K, T>,
        id: K,
        held: &Arc<Held<T>>,
    ) where
        K: Copy + Hash + Eq + Send + Sync + 'static,
        T: Send + Sync + 'static,
    {
        self.keep(|all| kind(all).keep(id, held), |all| kind(all).records.invalidate(&id));
    }

    pub(crate) fn get<K, V>(&self, kind: impl Fn(&Remembered) -> &Cache<K, V>, key: &K) -> Option<V>
    where
        K: Hash + Eq + Send + Sync + 'static,
        V: Clone + Send + Sync + 'static,
    {
        self.trusted.then(|| kind(self.remembered).get(key)).flatten()
    }

    pub(crate) fn keep_value<K, V>(&self, kind: impl Fn(&Remembered) -> &Cache<K, V>, key: K, value: V)
    where
        K: Copy + Hash + Eq + Send + Sync + 'static,
        V: Clone + Send + Sync + 'static,
    {
        self.keep(|all| kind(all).insert(key, value), |all| kind(all).invalidate(&key));
    }
}

impl Store {
    /// Begins a reading of what is remembered.
    pub(crate) async fn remembered(&self) -> Reading<'_> {
        let remembered = &self.inner().remembered;
        let age = remembered.age();
        let trusted = if age < STALE {
            true
        } else if age < TRUSTED {
            self.look_meanwhile();
            true
        } else {
            self.look(TRUSTED).await
        };
        Reading { remembered, before: remembered.forgotten.load(Ordering::SeqCst), trusted }
    }

    /// Looks at others' changes beside the request, if nobody does already.
    fn look_meanwhile(&self) {
        if self.inner().remembered.seen.try_lock().is_ok() {
            let store = self.clone();
            tokio::spawn(async move { store.look(STALE).await });
        }
    }

    /// Looks at others' changes unless somebody did within `age`; whether memory can be trusted after that.
    async fn look(&self, age: Duration) -> bool {
        let remembered = &self.inner().remembered;
        let mut seen = remembered.seen.lock().await;
        if remembered.age() < age {
            return true;
        }
        let begun = u64::try_from(remembered.begun.elapsed().as_millis()).unwrap_or(u64::MAX - 1);
        match self.changes().await {
            Ok(changes) => {
                let news = changes.iter().filter(|(id, _)| !seen.contains(id));
                remembered.forget(news.filter_map(|(_, change)| *change));
                *seen = changes.into_iter().map(|(id, _)| id).collect();
                remembered.looked.store(begun + 1, Ordering::SeqCst);
                true
            }
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "callers cannot be remembered: what other nodes changed is not known"
                );
                false
            }
        }
    }

    async fn changes(&self) -> Result<Vec<(i64, Option<Change>)>, StoreError> {
        let mut sql = Sql::new("SELECT id, kind, subject, beside FROM caller_changes WHERE at > ");
        sql.push(now(self.read().get_database_backend())).push(" - ").bind(WINDOW_MS);
        let rows = sql.all(self.read()).await?;
        rows.iter()
            .map(|row| {
                Ok((column(row, 0)?, Change::of_columns(column(row, 1)?, column(row, 2)?, column(row, 3)?)))
            })
            .collect()
    }

    /// Takes away rows that every node has seen or been away too long to trust its memory.
    pub(crate) async fn sweep_changes(&self) -> Result<(), StoreError> {
        let mut sql = Sql::new("DELETE FROM caller_changes WHERE at < ");
        sql.push(now(self.read().get_database_backend())).push(" - ").bind(2 * WINDOW_MS);
        sql.execute(&self.write()).await.map(drop)
    }
}

pub(crate) async fn write<D: Db>(tx: &D, changes: &[Change]) -> Result<(), StoreError> {
    for changes in in_few_shapes(changes) {
        let mut sql = Sql::new("INSERT INTO caller_changes (at, kind, subject, beside) VALUES ");
        sql.rows(changes, |sql, change| {
            let (kind, subject, beside) = change.columns();
            sql.push(now(tx.backend())).push(", ").bind(kind).push(", ").bind(subject);
            sql.push(", ").bind(beside);
        });
        sql.execute(tx).await?;
    }
    Ok(())
}

/// The database's own time in milliseconds, by which nodes whose clocks differ agree.
fn now(backend: DbBackend) -> &'static str {
    if backend == DbBackend::Postgres {
        "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
    } else {
        "CAST(unixepoch('subsec') * 1000 AS INTEGER)"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id<K>(number: u128) -> Id<K> {
        Id::from_uuid(Uuid::from_u128(number))
    }

    fn reading(remembered: &Remembered) -> Reading<'_> {
        Reading { remembered, before: remembered.forgotten.load(Ordering::SeqCst), trusted: true }
    }

    #[test]
    fn what_was_read_before_a_change_is_not_kept_after_it() {
        let remembered = Remembered::new();
        let key = (id(1), id(2));
        let early = reading(&remembered);
        remembered.forget([Change::Member(id(1), id(2))]);
        early.keep_value(|all| &all.members, key, None);
        assert_eq!(reading(&remembered).get(|all| &all.members, &key), None);
        reading(&remembered).keep_value(|all| &all.members, key, None);
        assert_eq!(reading(&remembered).get(|all| &all.members, &key), Some(None));
        remembered.forget([Change::Member(id(1), id(2))]);
        assert_eq!(reading(&remembered).get(|all| &all.members, &key), None);
    }

    #[test]
    fn an_old_secret_leads_to_nothing_once_the_record_has_a_new_one() {
        let all: ByDigest<u8, &str> = ByDigest::new();
        let digest = |byte: u8| Digest::from_slice(&[byte; Digest::LEN]).unwrap();
        let held = |byte: u8| Arc::new(Held { digest: [byte; Digest::LEN], value: "session" });
        all.keep(1, &held(1));
        assert!(all.get(&[digest(9), digest(1)]).is_some());
        all.keep(1, &held(2));
        assert!(all.get(&[digest(1)]).is_none() && all.get(&[digest(2)]).is_some());
    }

    #[test]
    fn memory_that_cannot_be_trusted_is_neither_read_nor_written() {
        let remembered = Remembered::new();
        reading(&remembered).keep_value(|all| &all.members, (id(1), id(2)), None);
        let blind = Reading { trusted: false, ..reading(&remembered) };
        assert_eq!(blind.get(|all| &all.members, &(id(1), id(2))), None);
        blind.keep_value(|all| &all.members, (id(3), id(4)), None);
        assert_eq!(reading(&remembered).get(|all| &all.members, &(id(3), id(4))), None);
    }

    #[test]
    fn changes_survive_their_columns() {
        let changes = [
            Change::Session(id(1)),
            Change::Token(id(2)),
            Change::Member(id(3), id(4)),
            Change::User(id(5)),
            Change::Workspace(id(6)),
            Change::AgentToken(id(7)),
            Change::Grant(id(8)),
        ];
        for change in changes {
            let (kind, subject, beside) = change.columns();
            assert_eq!(Change::of_columns(kind, subject, beside), Some(change));
        }
        assert_eq!(Change::of_columns(99, Uuid::nil(), None), None);
    }
}
