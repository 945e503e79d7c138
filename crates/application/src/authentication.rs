//! Resolving the credential of a request to its caller.

mod auth_states;
mod credential_cache;
mod last_used;
mod person_tokens;
mod project_key_cache;
mod project_keys;

pub use auth_states::AuthStateCache;
pub use credential_cache::CredentialCache;
pub use last_used::LastUsed;
pub use person_tokens::{PersonTokenCache, TrustedIssuer};
pub use project_key_cache::{ResolvedKey, key_access};

use identity::{IdentityRead, oauth::resource::mcp_resource_url};
use kernel::{
    Caller, Context, Timestamp,
    caller::{SessionCaller, TokenCaller},
    token::{self, Digest, Peppers, TokenKind},
};

use crate::{Application, Problem};

/// Credential of a request, well-formed or not.
#[derive(Debug)]
pub enum Credential<'a> {
    /// No credential.
    Absent,
    /// Personal access token, or access token of an agent.
    Bearer(&'a str),
    /// Secret of a console session.
    Session(&'a str),
}

/// Returns the caller of a personal access token.
///
/// # Errors
/// 401 `unauthorized`, with the same text for a malformed, unknown, expired or revoked token; a [`Problem`] if the
/// store fails.
pub async fn personal_caller(
    store: &dyn IdentityRead,
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

impl Application {
    /// Takes the uses of credentials since the last call, for writing to the store.
    #[must_use]
    pub fn take_last_used(&self) -> LastUsed {
        self.credential_cache().last_used.take()
    }

    /// Returns the caller of a credential: [`Caller::Anonymous`] without one, and for a session that has ended.
    ///
    /// # Errors
    /// 401 `unauthorized`, with the same text for a malformed, unknown, expired or revoked token; a [`Problem`] if the
    /// store fails.
    pub async fn caller(&self, credential: &Credential<'_>, now: Timestamp) -> Result<Caller, Problem> {
        match credential {
            Credential::Absent => Ok(Caller::Anonymous),
            Credential::Session(secret) => self.session_caller(secret, now).await,
            Credential::Bearer(text) => self.token_caller(text, now).await,
        }
    }

    /// Returns the request's context as of now, with the session or token read again.
    ///
    /// # Errors
    /// 401 `unauthorized` if the session or token is no longer valid; a [`Problem`] if the store fails.
    pub async fn reauthenticate(&self, ctx: &Context) -> Result<Context, Problem> {
        let now = self.now();
        let caller = match &ctx.caller {
            Caller::Session(caller) => {
                let session = self.store().session(caller.session).await?;
                let current = session.and_then(|session| session.caller(now));
                // The view is of the request, not of the session.
                current.map(|current| Caller::Session(SessionCaller { view_as: caller.view_as, ..current }))
            }
            Caller::Token(caller) if caller.grant.is_some() => {
                let found = self.store().access_token_of(caller.workspace, caller.token).await?;
                let audience = mcp_resource_url(&self.settings().public_url);
                found.and_then(|(token, grant)| token.caller(&grant, &audience, now)).map(Caller::Token)
            }
            Caller::Token(caller) => {
                let token = self.store().token(caller.token).await?;
                token.and_then(|token| token.caller(now)).map(Caller::Token)
            }
            Caller::Anonymous | Caller::ProjectKey(_) | Caller::System(_) => None,
        };
        let caller = caller.ok_or_else(Problem::unauthorized)?;
        Ok(self.context_at(now, caller, ctx.request_id, ctx.client_ip))
    }

    async fn session_caller(&self, secret: &str, now: Timestamp) -> Result<Caller, Problem> {
        // A cookie of another site, or of a session that has ended, counts as no cookie.
        if token::detect_kind(secret) != Some(TokenKind::Session) {
            return Ok(Caller::Anonymous);
        }
        let digests: Vec<Digest> = self.peppers().candidate_digests(secret).collect();
        let session = self.store().session_by_digest(&digests).await?;
        let Some(caller) = session.and_then(|session| session.caller(now)) else {
            return Ok(Caller::Anonymous);
        };
        self.credential_cache().last_used.record_session(caller.session, now);
        Ok(Caller::Session(caller))
    }

    async fn token_caller(&self, text: &str, now: Timestamp) -> Result<Caller, Problem> {
        if token::detect_kind(text) == Some(TokenKind::AgentAccess) {
            return self.agent_caller(text, now).await;
        }
        let caller = personal_caller(self.store(), self.peppers(), text, now).await?;
        self.credential_cache().last_used.record_token(caller.token, now);
        Ok(Caller::Token(caller))
    }

    /// Returns the agent with an access token for this server.
    async fn agent_caller(&self, text: &str, now: Timestamp) -> Result<Caller, Problem> {
        let digests: Vec<Digest> = self.peppers().candidate_digests(text).collect();
        let found = self.store().access_token_by_digest(&digests).await?;
        let audience = mcp_resource_url(&self.settings().public_url);
        let caller = found.and_then(|(token, grant)| token.caller(&grant, &audience, now));
        let caller = caller.ok_or_else(Problem::unauthorized)?;
        if let Some(grant) = caller.grant {
            self.credential_cache().last_used.record_grant(grant, now);
        }
        Ok(Caller::Token(caller))
    }

    /// Returns the URL of the agent server's protected resource metadata (RFC 9728, section 3.1).
    #[must_use]
    pub fn resource_metadata_url(&self) -> String {
        format!("{}/.well-known/oauth-protected-resource/mcp", self.settings().public_url)
    }
}
