//! Cache of what every request asks about its caller: sessions, tokens, agents' grants, memberships, people,
//! workspaces.
//!
//! Whoever writes one of them says so with [`StoreTx::invalidate_caller`](crate::tx::StoreTx::invalidate_caller). Once
//! that is committed, this process drops it from the cache before the request is answered, and a row in
//! `caller_changes` tells the other nodes. A node polls those rows before it trusts its cache for longer than
//! [`MAX_STALENESS`], so that a revocation holds everywhere within a second; while it cannot poll, it asks the database
//! each time. An idle node polls nothing.
//! See `docs/decisions/0006-cache-callers-and-invalidate-within-a-second.md`.

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
use sea_orm::{
    ConnectionTrait as _, DatabaseConnection, DatabaseTransaction, DbBackend, DerivePartialModel,
    EntityTrait as _, QueryFilter as _,
    sea_query::{Expr, ExprTrait as _, Query},
};
use uuid::Uuid;

use crate::{entity::caller_changes, error::OrStoreError as _, sql::statement_chunks};

/// Age that the last poll of others' changes may have.
const MAX_STALENESS: Duration = Duration::from_millis(900);
/// Age from which on others' changes are polled beside the request that noticed.
const REFRESH_AFTER: Duration = Duration::from_millis(400);
/// Milliseconds that a poll goes back: longer than a transaction takes from its first write to its commit.
const LOOKBACK_MS: i64 = 60_000;
/// Entries of each kind; at most.
const CAPACITY: u64 = 20_000;
/// Time after which an entry that nobody asked for is dropped.
const TIME_TO_IDLE: Duration = Duration::from_secs(600);

/// Something about callers that was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum CallerChange {
    Session(SessionId),
    Token(TokenId),
    Member(WorkspaceId, UserId),
    User(UserId),
    Workspace(WorkspaceId),
    /// An access token of an agent.
    AgentToken(TokenId),
    Grant(GrantId),
}

impl CallerChange {
    fn to_columns(self) -> (i16, Uuid, Option<Uuid>) {
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

    /// Returns the change of a row, as [`Self::from_columns`] does.
    fn from_row(row: &ChangeRow) -> Option<Self> {
        Self::from_columns(row.kind, row.subject, row.beside)
    }

    /// Returns the change of a row; none for a kind that only a newer version knows.
    fn from_columns(kind: i16, subject: Uuid, beside: Option<Uuid>) -> Option<Self> {
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
pub(crate) struct CachedRecord<T> {
    pub(crate) digest: [u8; Digest::LEN],
    pub(crate) value: T,
}

/// Records by id, and ids by digest. What a digest leads to is compared with the record's own: a changed secret leaves
/// an old digest behind.
pub(crate) struct DigestCache<K, T> {
    ids: Cache<[u8; Digest::LEN], K>,
    records: Cache<K, Arc<CachedRecord<T>>>,
}

impl<K: Copy + Hash + Eq + Send + Sync + 'static, T: Send + Sync + 'static> DigestCache<K, T> {
    fn new() -> Self {
        Self { ids: new_cache(), records: new_cache() }
    }

    pub(crate) fn records(&self) -> &Cache<K, Arc<CachedRecord<T>>> {
        &self.records
    }

    fn get(&self, digests: &[Digest]) -> Option<Arc<CachedRecord<T>>> {
        digests.iter().find_map(|digest| {
            let record = self.records.get(&self.ids.get(digest.as_bytes())?)?;
            (record.digest == *digest.as_bytes()).then_some(record)
        })
    }

    fn insert(&self, id: K, record: &Arc<CachedRecord<T>>) {
        self.ids.insert(record.digest, id);
        self.records.insert(id, Arc::clone(record));
    }
}

fn new_cache<K: Hash + Eq + Send + Sync + 'static, V: Clone + Send + Sync + 'static>() -> Cache<K, V> {
    Cache::builder().max_capacity(CAPACITY).time_to_idle(TIME_TO_IDLE).build()
}

pub(crate) struct CallerCache {
    pub(crate) sessions: DigestCache<SessionId, Session>,
    pub(crate) tokens: DigestCache<TokenId, Token>,
    pub(crate) members: Cache<(WorkspaceId, UserId), Option<MembershipFact>>,
    pub(crate) users: Cache<UserId, Arc<User>>,
    pub(crate) workspaces: Cache<WorkspaceId, Arc<Workspace>>,
    pub(crate) agent_tokens: DigestCache<TokenId, AccessToken>,
    pub(crate) grants: Cache<GrantId, Arc<Grant>>,
    /// Counts invalidations, so that what was read before one is not kept after it.
    invalidations: AtomicU64,
    created_at: Instant,
    /// Milliseconds from `created_at` to the last poll that succeeded, plus one; 0 before the first.
    last_poll: AtomicU64,
    /// Locked by a poll; the rows of the window that were seen already.
    seen_change_ids: tokio::sync::Mutex<HashSet<i64>>,
}

impl CallerCache {
    pub(crate) fn new() -> Self {
        Self {
            sessions: DigestCache::new(),
            tokens: DigestCache::new(),
            members: new_cache(),
            users: new_cache(),
            workspaces: new_cache(),
            agent_tokens: DigestCache::new(),
            grants: new_cache(),
            invalidations: AtomicU64::new(0),
            created_at: Instant::now(),
            last_poll: AtomicU64::new(0),
            seen_change_ids: tokio::sync::Mutex::default(),
        }
    }

    pub(crate) fn invalidate(&self, changes: impl IntoIterator<Item = CallerChange>) {
        for change in changes {
            // Counted first: whoever read before this and inserts after it sees the count and removes the entry again.
            self.invalidations.fetch_add(1, Ordering::SeqCst);
            match change {
                CallerChange::Session(id) => self.sessions.records.invalidate(&id),
                CallerChange::Token(id) => self.tokens.records.invalidate(&id),
                CallerChange::Member(workspace, user) => self.members.invalidate(&(workspace, user)),
                CallerChange::User(id) => self.users.invalidate(&id),
                CallerChange::Workspace(id) => self.workspaces.invalidate(&id),
                CallerChange::AgentToken(id) => self.agent_tokens.records.invalidate(&id),
                CallerChange::Grant(id) => self.grants.invalidate(&id),
            }
        }
    }

    /// Age of the last poll that succeeded.
    fn staleness(&self) -> Duration {
        match self.last_poll.load(Ordering::SeqCst).checked_sub(1) {
            Some(at) => self.created_at.elapsed().saturating_sub(Duration::from_millis(at)),
            None => Duration::MAX,
        }
    }
}

/// A reading of the cache. What is read meanwhile is kept, unless something was invalidated since.
pub(crate) struct CacheView<'a> {
    cache: &'a CallerCache,
    invalidations_before: u64,
    /// True if the cache may be read and written.
    is_fresh: bool,
}

impl CacheView<'_> {
    fn insert_unless_invalidated(&self, insert: impl FnOnce(&CallerCache), undo: impl FnOnce(&CallerCache)) {
        if !self.is_fresh {
            return;
        }
        insert(self.cache);
        if self.cache.invalidations.load(Ordering::SeqCst) != self.invalidations_before {
            undo(self.cache);
        }
    }

    pub(crate) fn get_by_digest<K, T>(
        &self,
        kind: impl Fn(&CallerCache) -> &DigestCache<K, T>,
        digests: &[Digest],
    ) -> Option<Arc<CachedRecord<T>>>
    where
        K: Copy + Hash + Eq + Send + Sync + 'static,
        T: Send + Sync + 'static,
    {
        self.is_fresh.then(|| kind(self.cache).get(digests)).flatten()
    }

    pub(crate) fn insert_record<K, T>(
        &self,
        kind: impl Fn(&CallerCache) -> &DigestCache<K, T>,
        id: K,
        record: &Arc<CachedRecord<T>>,
    ) where
        K: Copy + Hash + Eq + Send + Sync + 'static,
        T: Send + Sync + 'static,
    {
        self.insert_unless_invalidated(
            |all| kind(all).insert(id, record),
            |all| kind(all).records.invalidate(&id),
        );
    }

    pub(crate) fn get<K, V>(&self, kind: impl Fn(&CallerCache) -> &Cache<K, V>, key: &K) -> Option<V>
    where
        K: Hash + Eq + Send + Sync + 'static,
        V: Clone + Send + Sync + 'static,
    {
        self.is_fresh.then(|| kind(self.cache).get(key)).flatten()
    }

    pub(crate) fn insert<K, V>(&self, kind: impl Fn(&CallerCache) -> &Cache<K, V>, key: K, value: V)
    where
        K: Copy + Hash + Eq + Send + Sync + 'static,
        V: Clone + Send + Sync + 'static,
    {
        self.insert_unless_invalidated(|all| kind(all).insert(key, value), |all| kind(all).invalidate(&key));
    }
}

impl CallerCache {
    /// Begins a reading of the cache, which is fresh if others' changes were polled lately or can be now.
    pub(crate) async fn view(self: &Arc<Self>, db: &DatabaseConnection) -> CacheView<'_> {
        let age = self.staleness();
        let is_fresh = if age < REFRESH_AFTER {
            true
        } else if age < MAX_STALENESS {
            self.poll_in_background(db);
            true
        } else {
            self.poll(MAX_STALENESS, db).await
        };
        CacheView { cache: self, invalidations_before: self.invalidations.load(Ordering::SeqCst), is_fresh }
    }

    /// Polls others' changes beside the request, if nobody does already.
    fn poll_in_background(self: &Arc<Self>, db: &DatabaseConnection) {
        if self.seen_change_ids.try_lock().is_ok() {
            let (cache, db) = (Arc::clone(self), db.clone());
            tokio::spawn(async move { cache.poll(REFRESH_AFTER, &db).await });
        }
    }

    /// Polls others' changes unless somebody did within `age`; returns `true` if the cache is fresh after that.
    async fn poll(&self, age: Duration, db: &DatabaseConnection) -> bool {
        let mut seen_ids = self.seen_change_ids.lock().await;
        if self.staleness() < age {
            return true;
        }
        let polled_at_ms = u64::try_from(self.created_at.elapsed().as_millis()).unwrap_or(u64::MAX - 1);
        match load_changes(db).await {
            Ok(changes) => {
                let unseen = changes.iter().filter(|change| !seen_ids.contains(&change.id));
                self.invalidate(unseen.filter_map(CallerChange::from_row));
                *seen_ids = changes.into_iter().map(|change| change.id).collect();
                self.last_poll.store(polled_at_ms + 1, Ordering::SeqCst);
                true
            }
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "cannot poll what other nodes changed: callers are read from the database"
                );
                false
            }
        }
    }
}

/// A change that some node wrote. Its time is not read.
#[derive(Debug, DerivePartialModel)]
#[sea_orm(entity = "caller_changes::Entity")]
struct ChangeRow {
    id: i64,
    kind: i16,
    subject: Uuid,
    beside: Option<Uuid>,
}

async fn load_changes(db: &DatabaseConnection) -> Result<Vec<ChangeRow>, StoreError> {
    let begin = database_now_ms(db.get_database_backend()).sub(LOOKBACK_MS);
    caller_changes::Entity::find()
        .filter(Expr::col(caller_changes::Column::At).gt(begin))
        .into_partial_model::<ChangeRow>()
        .all(db)
        .await
        .or_store_error()
}

/// Deletes rows that every node has seen, or was away too long to trust its cache.
pub(crate) async fn delete_old_changes(db: &DatabaseConnection) -> Result<(), StoreError> {
    let before = database_now_ms(db.get_database_backend()).sub(2 * LOOKBACK_MS);
    caller_changes::Entity::delete_many()
        .filter(Expr::col(caller_changes::Column::At).lt(before))
        .exec(db)
        .await
        .or_store_error()?;
    Ok(())
}

/// Inserts changes, for the other nodes to poll.
pub(crate) async fn insert_changes(
    tx: &DatabaseTransaction,
    changes: &[CallerChange],
) -> Result<(), StoreError> {
    use caller_changes::Column;
    for changes in statement_chunks(changes) {
        let mut insert = Query::insert();
        insert.into_table(caller_changes::Entity).columns([
            Column::At,
            Column::Kind,
            Column::Subject,
            Column::Beside,
        ]);
        for change in changes {
            let (kind, subject, beside) = change.to_columns();
            let now = database_now_ms(tx.get_database_backend());
            insert
                .values([now, Expr::val(kind), Expr::val(subject), Expr::val(beside)])
                .map_err(|error| StoreError::Failed(error.into()))?;
        }
        tx.execute(&insert).await.or_store_error()?;
    }
    Ok(())
}

/// The database's own time in milliseconds, by which nodes whose clocks differ agree.
fn database_now_ms(backend: DbBackend) -> Expr {
    Expr::cust(if backend == DbBackend::Postgres {
        "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
    } else {
        "CAST(unixepoch('subsec') * 1000 AS INTEGER)"
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id<K>(number: u128) -> Id<K> {
        Id::from_uuid(Uuid::from_u128(number))
    }

    fn fresh_view(cache: &CallerCache) -> CacheView<'_> {
        CacheView { cache, invalidations_before: cache.invalidations.load(Ordering::SeqCst), is_fresh: true }
    }

    #[test]
    fn what_was_read_before_a_change_is_not_kept_after_it() {
        let remembered = CallerCache::new();
        let key = (id(1), id(2));
        let early = fresh_view(&remembered);
        remembered.invalidate([CallerChange::Member(id(1), id(2))]);
        early.insert(|all| &all.members, key, None);
        assert_eq!(fresh_view(&remembered).get(|all| &all.members, &key), None);
        fresh_view(&remembered).insert(|all| &all.members, key, None);
        assert_eq!(fresh_view(&remembered).get(|all| &all.members, &key), Some(None));
        remembered.invalidate([CallerChange::Member(id(1), id(2))]);
        assert_eq!(fresh_view(&remembered).get(|all| &all.members, &key), None);
    }

    #[test]
    fn an_old_secret_leads_to_nothing_once_the_record_has_a_new_one() {
        let all: DigestCache<u8, &str> = DigestCache::new();
        let digest = |byte: u8| Digest::from_slice(&[byte; Digest::LEN]).unwrap();
        let held = |byte: u8| Arc::new(CachedRecord { digest: [byte; Digest::LEN], value: "session" });
        all.insert(1, &held(1));
        assert!(all.get(&[digest(9), digest(1)]).is_some());
        all.insert(1, &held(2));
        assert!(all.get(&[digest(1)]).is_none() && all.get(&[digest(2)]).is_some());
    }

    #[test]
    fn memory_that_cannot_be_trusted_is_neither_read_nor_written() {
        let remembered = CallerCache::new();
        fresh_view(&remembered).insert(|all| &all.members, (id(1), id(2)), None);
        let stale = CacheView { is_fresh: false, ..fresh_view(&remembered) };
        assert_eq!(stale.get(|all| &all.members, &(id(1), id(2))), None);
        stale.insert(|all| &all.members, (id(3), id(4)), None);
        assert_eq!(fresh_view(&remembered).get(|all| &all.members, &(id(3), id(4))), None);
    }

    #[test]
    fn changes_survive_their_columns() {
        let changes = [
            CallerChange::Session(id(1)),
            CallerChange::Token(id(2)),
            CallerChange::Member(id(3), id(4)),
            CallerChange::User(id(5)),
            CallerChange::Workspace(id(6)),
            CallerChange::AgentToken(id(7)),
            CallerChange::Grant(id(8)),
        ];
        for change in changes {
            let (kind, subject, beside) = change.to_columns();
            assert_eq!(CallerChange::from_columns(kind, subject, beside), Some(change));
        }
        assert_eq!(CallerChange::from_columns(99, Uuid::nil(), None), None);
    }
}
