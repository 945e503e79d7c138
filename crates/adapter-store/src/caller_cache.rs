//! Cache of what every request asks about its caller: sessions, tokens, agents' grants, memberships, people,
//! workspaces; and of the apps that visitors ask for by their address.
//!
//! Whoever writes one of them says so with [`StoreTx::invalidate_caller`](crate::tx::StoreTx::invalidate_caller). Once
//! that is committed, this process drops it from the cache before the request is answered, and a row in
//! `caller_changes` tells the other nodes. The crate `caller-cache` polls those rows and says when an entry may be
//! trusted; this module has the records and the rows.
//! See `docs/decisions/0006-cache-callers-and-invalidate-within-a-second.md` and
//! `docs/decisions/0177-serve-visits-from-the-caller-cache.md`.

mod changes;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use ::apps::App;
use ::caller_cache::{CacheBounds, Caches, KeyCache};
use ::identity::{
    User,
    oauth::{AccessToken, Grant},
    sessions::Session,
    tokens::Token,
};
use ::workspace::Workspace;
use kernel::{
    authority::MembershipFact,
    id::{AppId, GrantId, SessionId, TokenId, UserId, WorkspaceId},
    token::Digest,
};
use sha2::{Digest as _, Sha256};

pub(crate) use changes::{CallerChange, ChangeTable, delete_old_changes, insert_changes};

/// Bounds of the cache of each kind.
const BOUNDS: CacheBounds = CacheBounds { capacity: 20_000, time_to_idle: Duration::from_secs(600) };

type DigestBytes = [u8; Digest::LEN];
/// SHA-256 of an app's slug.
type SlugDigest = [u8; 32];
type DigestCache<K, T> = ::caller_cache::DigestCache<DigestBytes, K, T>;
pub(crate) type CallerCache = ::caller_cache::CallerCache<CallerRecords, ChangeTable>;
pub(crate) type CacheView<'a> = ::caller_cache::CacheView<'a, CallerRecords>;
pub(crate) type CachedRecord<T> = ::caller_cache::CachedRecord<DigestBytes, T>;

/// Age at which a cached app is read again. While nodes are replaced one after the other, those of an earlier version change apps
/// and record nothing.
const MAX_APP_AGE: Duration = Duration::from_secs(1);

/// An app, and when it was asked for.
pub(crate) struct CachedApp {
    pub(crate) app: App,
    pub(crate) asked_at: Instant,
}

impl CachedApp {
    /// Returns the app unless an earlier version may have changed it for longer than a change may go unnoticed.
    pub(crate) fn current(&self) -> Option<&App> {
        (self.asked_at.elapsed() < MAX_APP_AGE).then_some(&self.app)
    }
}

/// The cached records, by kind.
pub(crate) struct CallerRecords {
    pub(crate) sessions: DigestCache<SessionId, Session>,
    pub(crate) tokens: DigestCache<TokenId, Token>,
    pub(crate) members: KeyCache<(WorkspaceId, UserId), Option<MembershipFact>>,
    pub(crate) users: KeyCache<UserId, Arc<User>>,
    pub(crate) workspaces: KeyCache<WorkspaceId, Arc<Workspace>>,
    pub(crate) agent_tokens: DigestCache<TokenId, AccessToken>,
    pub(crate) grants: KeyCache<GrantId, Arc<Grant>>,
    /// Live apps; whether their workspaces are, `workspaces` knows.
    pub(crate) apps: ::caller_cache::DigestCache<SlugDigest, AppId, CachedApp>,
}

impl Default for CallerRecords {
    fn default() -> Self {
        Self {
            sessions: DigestCache::new(BOUNDS),
            tokens: DigestCache::new(BOUNDS),
            members: KeyCache::new(BOUNDS),
            users: KeyCache::new(BOUNDS),
            workspaces: KeyCache::new(BOUNDS),
            agent_tokens: DigestCache::new(BOUNDS),
            grants: KeyCache::new(BOUNDS),
            apps: ::caller_cache::DigestCache::new(BOUNDS),
        }
    }
}

impl Caches for CallerRecords {
    type Change = CallerChange;

    fn invalidate(&self, change: &CallerChange) {
        match change {
            CallerChange::Session(id) => self.sessions.invalidate(id),
            CallerChange::Token(id) => self.tokens.invalidate(id),
            CallerChange::Member(workspace, user) => self.members.invalidate(&(*workspace, *user)),
            CallerChange::User(id) => self.users.invalidate(id),
            CallerChange::Workspace(id) => self.workspaces.invalidate(id),
            CallerChange::AgentToken(id) => self.agent_tokens.invalidate(id),
            CallerChange::Grant(id) => self.grants.invalidate(id),
            CallerChange::App(id) => self.apps.invalidate(id),
        }
    }

    fn invalidate_all(&self) {
        self.sessions.invalidate_all();
        self.tokens.invalidate_all();
        self.members.invalidate_all();
        self.users.invalidate_all();
        self.workspaces.invalidate_all();
        self.agent_tokens.invalidate_all();
        self.grants.invalidate_all();
        self.apps.invalidate_all();
    }
}

/// Returns the keys of the cache that a secret may be stored under.
pub(crate) fn digest_keys(candidates: &[Digest]) -> impl Iterator<Item = DigestBytes> {
    candidates.iter().map(|digest| *digest.as_bytes())
}

/// Returns the key of the cache that an app is stored under.
pub(crate) fn slug_key(slug: &str) -> SlugDigest {
    Sha256::digest(slug).into()
}
