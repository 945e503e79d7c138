//! From the credentials of a request to its caller.
//!
//! The store remembers sessions and tokens. A project key that was seen a moment ago is not looked up again: what was
//! found is remembered here for [`REMEMBERED`], so that a revocation made on another node takes effect within that
//! time. One made here takes effect at once.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::http::{HeaderMap, header};
use backend_data::{Access, ProjectRef, Scope};
use identity::IdentityRead;
use kernel::{
    Caller, Problem, Timestamp,
    caller::TokenCaller,
    id::{ProjectId, ProjectKeyId, SessionId, TokenId, WorkspaceId},
    token::{self, Digest, Peppers, TokenKind},
    vault::Vault,
};
use moka::sync::Cache;
use projects::{KeyKind, KeyScope, Project, ProjectKey};

use crate::{routes::TrustedIssuer, sample_data, state::Api};

/// How long a looked-up credential is believed.
const KEY_CACHE_TTL: Duration = Duration::from_secs(1);
const KEY_CACHE_CAPACITY: u64 = 50_000;

/// The session cookie on https.
const SECURE_COOKIE: &str = "__Host-qala_session";
/// The session cookie on plain-http development, where browsers refuse the other.
const PLAIN_COOKIE: &str = "qala_session";

/// What a request brought along, well-formed or not.
#[derive(Debug)]
pub(crate) enum RequestCredential<'a> {
    Absent,
    Bearer(&'a str),
    Cookie(&'a str),
}

/// A key with its project's settings, and what every request with it needs of them.
#[derive(Debug, Clone)]
pub(crate) struct ResolvedKey {
    pub(crate) key: ProjectKey,
    pub(crate) project: Project,
    /// Where the project's rows are.
    pub(crate) project_ref: ProjectRef,
    /// What the key alone opens.
    pub(crate) access: Access,
    /// How many bytes the project's rows may take.
    pub(crate) max_stored_bytes: u64,
    /// Whose tokens tell the project's signed-in people.
    pub(crate) trusted_issuer: Option<TrustedIssuer>,
}

impl ResolvedKey {
    fn new(key: ProjectKey, project: Project, max_stored: u64, vault: &Vault) -> Result<Self, Problem> {
        let place = sample_data::project_ref(project.id, project.shard)?;
        let access = key_access(&key);
        let provider = project.settings.identity.as_ref();
        let believed = provider.map(|provider| TrustedIssuer::new(provider, vault, project.id));
        Ok(Self {
            key,
            project,
            project_ref: place,
            access,
            max_stored_bytes: max_stored,
            trusted_issuer: believed,
        })
    }
}

/// What a key alone opens.
pub(crate) fn key_access(key: &ProjectKey) -> Access {
    match key.kind {
        KeyKind::Publishable => Access::Visitor,
        KeyKind::Secret => Access::Service {
            scopes: key.scopes.to_vec().into_iter().map(row_scope).collect(),
            tables: key.tables.clone(),
        },
    }
}

fn row_scope(scope: KeyScope) -> Scope {
    match scope {
        KeyScope::RowsRead => Scope::RowsRead,
        KeyScope::RowsWrite => Scope::RowsWrite,
        KeyScope::SchemaWrite => Scope::SchemaWrite,
    }
}

/// Tokens and keys, and when each was last used.
#[derive(Debug, Default)]
pub struct LastUsed {
    /// Personal access tokens.
    pub tokens: Vec<(TokenId, Timestamp)>,
    /// Project keys.
    pub keys: Vec<(ProjectKeyId, Timestamp)>,
    /// Console sessions.
    pub sessions: Vec<(SessionId, Timestamp)>,
}

/// Credentials seen lately.
pub(crate) struct CredentialCache {
    keys: Cache<[u8; Digest::LEN], Arc<ResolvedKey>>,
    tokens_last_used: Mutex<HashMap<TokenId, Timestamp>>,
    keys_last_used: Mutex<HashMap<ProjectKeyId, Timestamp>>,
    sessions_last_used: Mutex<HashMap<SessionId, Timestamp>>,
}

impl Default for CredentialCache {
    fn default() -> Self {
        Self {
            keys: Cache::builder().max_capacity(KEY_CACHE_CAPACITY).time_to_live(KEY_CACHE_TTL).build(),
            tokens_last_used: Mutex::default(),
            keys_last_used: Mutex::default(),
            sessions_last_used: Mutex::default(),
        }
    }
}

impl CredentialCache {
    /// Forgets a key that was revoked here.
    pub(crate) fn invalidate_key(&self, key: ProjectKeyId) {
        // Entries live a second: a scan of what is remembered is cheap, and a revocation rare.
        let digests: Vec<_> =
            self.keys.iter().filter(|(_, known)| known.key.id == key).map(|(digest, _)| *digest).collect();
        digests.iter().for_each(|digest| self.keys.invalidate(digest));
    }

    /// Forgets the settings of a project that were changed here.
    pub(crate) fn invalidate_project(&self, project: ProjectId) {
        let of_it = |known: &ResolvedKey| known.project.id == project;
        let digests: Vec<_> =
            self.keys.iter().filter(|(_, known)| of_it(known)).map(|(digest, _)| *digest).collect();
        digests.iter().for_each(|digest| self.keys.invalidate(digest));
    }

    pub(crate) fn take_last_used(&self) -> LastUsed {
        fn take<K>(uses: &Mutex<HashMap<K, Timestamp>>) -> Vec<(K, Timestamp)> {
            std::mem::take(&mut *uses.lock().unwrap_or_else(PoisonError::into_inner)).into_iter().collect()
        }
        LastUsed {
            tokens: take(&self.tokens_last_used),
            keys: take(&self.keys_last_used),
            sessions: take(&self.sessions_last_used),
        }
    }
}

fn record_use<K: std::hash::Hash + Eq>(uses: &Mutex<HashMap<K, Timestamp>>, id: K, now: Timestamp) {
    uses.lock().unwrap_or_else(PoisonError::into_inner).insert(id, now);
}

/// What a request brought along. The header `Authorization` goes before the cookie.
pub(crate) fn request_credential<'a>(api: &Api, headers: &'a HeaderMap) -> RequestCredential<'a> {
    if let Some(value) = headers.get(header::AUTHORIZATION) {
        let text = value.to_str().unwrap_or_default();
        return match text.split_once(' ') {
            Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => {
                RequestCredential::Bearer(token.trim())
            }
            _ => RequestCredential::Bearer(""),
        };
    }
    let name = cookie_name(api);
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = cookies.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs
        .filter(|(key, _)| *key == name)
        .map(|(_, value)| RequestCredential::Cookie(value))
        .next()
        .unwrap_or(RequestCredential::Absent)
}

pub(crate) fn cookie_name(api: &Api) -> &'static str {
    if api.config.is_https() { SECURE_COOKIE } else { PLAIN_COOKIE }
}

/// The caller that a personal access token makes.
///
/// # Errors
/// 401, the same for what is malformed, unknown, expired and revoked.
pub async fn personal_caller<S: IdentityRead + ?Sized>(
    store: &S,
    peppers: &Peppers,
    text: &str,
    now: Timestamp,
) -> Result<TokenCaller, Problem> {
    if token::detect_kind(text) != Some(TokenKind::Personal) {
        return Err(Problem::unauthorized());
    }
    let digests: Vec<Digest> = peppers.candidate_digests(text).collect();
    let found = store.token_by_digest(&digests).await?;
    found.and_then(|token| token.caller(now)).ok_or_else(Problem::unauthorized)
}

impl Api {
    /// The person or token behind what was presented; a visitor when nothing was.
    ///
    /// # Errors
    /// 401, the same for what is malformed, unknown, expired and revoked.
    pub(crate) async fn caller(
        &self,
        presented: &RequestCredential<'_>,
        now: Timestamp,
    ) -> Result<Caller, Problem> {
        match presented {
            RequestCredential::Absent => Ok(Caller::Anonymous),
            RequestCredential::Cookie(secret) => self.session_caller(secret, now).await,
            RequestCredential::Bearer(token) => self.token_caller(token, now).await,
        }
    }

    async fn session_caller(&self, secret: &str, now: Timestamp) -> Result<Caller, Problem> {
        // A cookie that is not ours, or no longer good, is like none at all.
        if token::detect_kind(secret) != Some(TokenKind::Session) {
            return Ok(Caller::Anonymous);
        }
        let digests: Vec<Digest> = self.services.peppers.candidate_digests(secret).collect();
        let session = self.store().session_by_digest(&digests).await?;
        let Some(caller) = session.and_then(|session| session.caller(now)) else {
            return Ok(Caller::Anonymous);
        };
        record_use(&self.credential_cache.sessions_last_used, caller.session, now);
        Ok(Caller::Session(caller))
    }

    async fn token_caller(&self, text: &str, now: Timestamp) -> Result<Caller, Problem> {
        if token::detect_kind(text) == Some(TokenKind::AgentAccess) {
            return self.agent_caller(text, now).await;
        }
        let caller = personal_caller(self.store(), &self.services.peppers, text, now).await?;
        record_use(&self.credential_cache.tokens_last_used, caller.token, now);
        Ok(Caller::Token(caller))
    }

    /// The project key behind a text.
    ///
    /// # Errors
    /// 401, the same for what is malformed, unknown and revoked.
    pub(crate) async fn project_key(&self, text: &str, now: Timestamp) -> Result<Arc<ResolvedKey>, Problem> {
        if !matches!(token::detect_kind(text), Some(TokenKind::PublishableKey | TokenKind::SecretKey)) {
            return Err(Problem::unauthorized());
        }
        let digests: Vec<Digest> = self.services.peppers.candidate_digests(text).collect();
        let remembered = digests.iter().find_map(|digest| self.credential_cache.keys.get(digest.as_bytes()));
        let known = match remembered {
            Some(known) => known,
            None => {
                let known = self.load_key(&digests).await?.ok_or_else(Problem::unauthorized)?;
                if let Some(digest) = digests.first() {
                    self.credential_cache.keys.insert(*digest.as_bytes(), Arc::clone(&known));
                }
                known
            }
        };
        if known.key.revoked_at.is_some() {
            return Err(Problem::unauthorized());
        }
        record_use(&self.credential_cache.keys_last_used, known.key.id, now);
        Ok(known)
    }

    async fn load_key(&self, digests: &[Digest]) -> Result<Option<Arc<ResolvedKey>>, Problem> {
        let Some(key) = self.store().project_key_by_digest(digests).await? else { return Ok(None) };
        let Some(project) = self.store().project_by_key(key.project).await? else { return Ok(None) };
        let max_stored = self.max_stored_bytes(project.workspace).await?;
        ResolvedKey::new(key, project, max_stored, &self.services.vault).map(|known| Some(Arc::new(known)))
    }

    /// How many bytes the rows of a project of this workspace may take.
    pub(crate) async fn max_stored_bytes(&self, workspace: WorkspaceId) -> Result<u64, Problem> {
        let found =
            self.store().workspace(workspace).await?.ok_or_else(|| Problem::not_found("workspace"))?;
        Ok(found.plan.limits().stored_bytes_per_project)
    }
}
