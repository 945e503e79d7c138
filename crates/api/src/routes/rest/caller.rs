//! The caller of the data API: a project key, with or without a person token.

use std::{
    marker::PhantomData,
    ops::{Deref, DerefMut},
    sync::Arc,
};

use axum::{
    extract::{FromRequestParts, Request},
    http::{HeaderMap, HeaderName, header, request::Parts},
};
use backend_data::{Access as RowAccess, Engine, Error, ErrorKind, ProjectRef};
use kernel::{AuditEntry, Caller, Context, Timestamp, caller::ProjectKeyCaller};
use projects::{KeyKind, KeyScope, Project};
use serde_json::Value;

use super::{
    cors::CorsDecision,
    error::{INSUFFICIENT_SCOPE, RestError},
    log::{LoggedCaller, RequestLogSlot},
    project_path::project_in_path,
};
use crate::{
    auth::{
        Callers,
        access::{Access, Enforces},
        view_as,
    },
    http::{conditional::refuse_preconditions, extract::Payload, request_middleware::RequestInfo},
    state::Api,
};
use application::{
    Problem, ProblemKind, authentication::ResolvedKey, authorization::Requirement, late_proof::ProveAgain,
    request_span,
};

const APIKEY: HeaderName = HeaderName::from_static("apikey");

/// Scope that an operation requires of a project key, as a type.
pub(crate) trait RequiredScope: Send + Sync + 'static {
    const SCOPE: Option<KeyScope>;
}

/// No scope: any key of the project.
#[derive(Debug)]
pub(crate) enum AnyScope {}

impl RequiredScope for AnyScope {
    const SCOPE: Option<KeyScope> = None;
}

/// See [`KeyScope::RowsRead`].
#[derive(Debug)]
pub(crate) enum RowsRead {}

impl RequiredScope for RowsRead {
    const SCOPE: Option<KeyScope> = Some(KeyScope::RowsRead);
}

/// See [`KeyScope::RowsWrite`].
#[derive(Debug)]
pub(crate) enum RowsWrite {}

impl RequiredScope for RowsWrite {
    const SCOPE: Option<KeyScope> = Some(KeyScope::RowsWrite);
}

/// See [`KeyScope::SchemaWrite`].
#[derive(Debug)]
pub(crate) enum SchemaWrite {}

impl RequiredScope for SchemaWrite {
    const SCOPE: Option<KeyScope> = Some(KeyScope::SchemaWrite);
}

/// Caller whose key can have the scope `S`. Extracting it counts the request against the project's rate limits.
pub(crate) struct Keyed<S>(KeyCaller, PhantomData<S>);

impl<S> Deref for Keyed<S> {
    type Target = KeyCaller;

    fn deref(&self) -> &KeyCaller {
        &self.0
    }
}

impl<S> DerefMut for Keyed<S> {
    fn deref_mut(&mut self) -> &mut KeyCaller {
        &mut self.0
    }
}

impl<S: RequiredScope> Enforces for Keyed<S> {
    const ACCESS: Access = Access {
        callers: Callers::ProjectKey,
        requirement: match S::SCOPE {
            Some(scope) => Requirement::Key(scope),
            None => Requirement::None,
        },
    };
}

impl<S: RequiredScope> FromRequestParts<Api> for Keyed<S> {
    type Rejection = RestError;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, RestError> {
        Ok(Self(KeyCaller::admit(parts, api, S::SCOPE).await?, PhantomData))
    }
}

/// Caller with a key for the project in the path. For a key that was used recently, nothing is read from the store.
pub(crate) struct KeyCaller {
    resolved_key: Arc<ResolvedKey>,
    /// Access of the person whose token was sent with the key.
    person_access: Option<Arc<RowAccess>>,
    /// Scope that the operation requires.
    scope: Option<KeyScope>,
    ctx: Context,
}

/// Result of proving a key and the person token beside it once more.
struct LateCaller {
    resolved_key: Arc<ResolvedKey>,
    person_access: Option<Arc<RowAccess>>,
    now: Timestamp,
}

impl KeyCaller {
    /// Returns the location of the project's rows.
    pub(super) fn project_ref(&self) -> &ProjectRef {
        &self.resolved_key.project_ref
    }

    /// Returns the row engine with the storage limit of the project's plan.
    pub(super) fn rows(&self, api: &Api) -> Engine {
        self.with_storage_limit(api.rows())
    }

    /// Returns an engine with the storage limit of the project's plan.
    pub(super) fn with_storage_limit(&self, engine: &Engine) -> Engine {
        engine.with_storage_limit(Some(self.resolved_key.max_stored_bytes))
    }

    /// Returns the project of the key.
    pub(super) fn project(&self) -> &Project {
        &self.resolved_key.project
    }

    /// Takes `cost` more units from the limits of the key and its address, for a request that does the work of several.
    /// A cost above a limit takes all but one unit of it.
    ///
    /// # Errors
    /// 429 `rate_limited`.
    pub(super) fn charge(&self, api: &Api, cost: u32) -> Result<(), Problem> {
        let (key, project) = (&self.resolved_key.key, &self.resolved_key.project);
        let (per_key, per_address) = (project.settings.rate_limit_per_min, project.settings.ip_rate_per_min);
        let (address, cost) =
            (self.ctx.client_ip, cost.min(per_key.saturating_sub(1)).min(per_address.saturating_sub(1)));
        api.rate_limits().check_project(key.id, per_key, project.id, address, per_address, cost).map(drop)
    }

    /// Returns the caller's access, as the row engine takes it.
    pub(super) fn access(&self) -> &RowAccess {
        self.person_access.as_deref().unwrap_or(&self.resolved_key.access)
    }

    /// Returns `true` if the result of a write shows a row as a read does. Where policies apply, it also has the id of a
    /// row whose other columns the caller may not read.
    pub(super) fn writes_as_it_reads(&self) -> bool {
        matches!(self.access(), RowAccess::Service { .. })
    }

    /// Receives a body of at most the project's limit. If it arrives late, this becomes the caller as of then.
    ///
    /// # Errors
    /// 413 `too_large` if it is longer; 400 `invalid_request` if it does not arrive in time or completely; if it arrives late,
    /// those of the key and the person token.
    pub(super) async fn body(&mut self, api: &Api, request: Request) -> Result<Payload, Problem> {
        let limit = self.resolved_key.project.settings.max_body_kb as usize * 1024;
        let (parts, body) = request.into_parts();
        let credentials = SentCredentials { api, headers: &parts.headers, scope: self.scope };
        let (payload, proven) = Payload::read_with(&parts.headers, body, limit, &credentials).await?;
        if let Some(LateCaller { resolved_key, person_access, now }) = proven {
            (self.resolved_key, self.person_access, self.ctx.now) = (resolved_key, person_access, now);
        }
        Ok(payload)
    }

    /// Converts an error of the engine. If the engine refuses a secret key, the reason is always its scopes.
    pub(super) fn map_error(&self, error: Error) -> RestError {
        let is_scope_error =
            error.kind() == ErrorKind::Forbidden && matches!(self.access(), RowAccess::Service { .. });
        let error = RestError::from(error);
        if is_scope_error { error.with_scope_code() } else { error }
    }

    /// Returns an audit entry about a change to the project's tables.
    pub(super) fn audit(&self, action: &'static str, detail: Value) -> AuditEntry {
        let project = &self.resolved_key.project;
        self.ctx.audit_entry(action).workspace(project.workspace).target(project.id).detail(detail)
    }
}

impl KeyCaller {
    async fn admit(parts: &Parts, api: &Api, scope: Option<KeyScope>) -> Result<Self, RestError> {
        let info = parts
            .extensions
            .get::<RequestInfo>()
            .ok_or_else(|| Problem::internal("the request did not pass the request middleware"))?;
        let now = api.now();
        let refused = |problem: Problem| {
            if problem.kind == ProblemKind::Unauthorized {
                // Guesses count against the address.
                api.rate_limits().check(None, info.address, 2)?;
            }
            Err::<Self, RestError>(problem.into())
        };
        let presented = key_credentials(&parts.headers);
        let known = match authenticate_key(api, presented.as_ref(), now).await {
            Ok(known) => known,
            Err(problem) => return refused(problem),
        };
        if let Some(log_slot) = parts.extensions.get::<RequestLogSlot>() {
            log_slot.set(LoggedCaller { api: api.clone(), resolved_key: Arc::clone(&known), at: now });
        }
        let (key, project) = (&known.key, &known.project);
        request_span::record("project", &project.id);
        let settings = &project.settings;
        if let Some(cors_decision) = parts.extensions.get::<CorsDecision>() {
            cors_decision.decide(&settings.allowed_origins);
        }
        let (per_key, per_address) = (settings.rate_limit_per_min, settings.ip_rate_per_min);
        if let Some(rate) =
            api.rate_limits().check_project(key.id, per_key, project.id, info.address, per_address, 1)?
        {
            // Only the first value is kept: a request counts once.
            let _first = info.rate.set(rate);
        }
        if project_in_path(parts.uri.path()) != Some(project.id) {
            return Err(Problem::not_found("project").into());
        }
        view_as::refuse(&parts.headers)?;
        let person = match verify_person(api, &known, presented.as_ref(), now) {
            Ok(person) => person,
            Err(problem) => return refused(problem),
        };
        check_scope(&known, scope)?;
        refuse_preconditions(parts)?;
        let caller = Caller::ProjectKey(ProjectKeyCaller { key: key.id, project: project.id });
        let ctx = api.context_at(now, caller, info.request_id, info.address);
        Ok(Self { resolved_key: known, person_access: person, scope, ctx })
    }
}

/// The credentials of a request, which are proven once more if its body arrives late.
struct SentCredentials<'r> {
    api: &'r Api,
    headers: &'r HeaderMap,
    scope: Option<KeyScope>,
}

impl ProveAgain for SentCredentials<'_> {
    type Proven = LateCaller;

    async fn prove(&self) -> Result<LateCaller, Problem> {
        let (now, presented) = (self.api.now(), key_credentials(self.headers));
        let resolved_key = authenticate_key(self.api, presented.as_ref(), now).await?;
        let person_access = verify_person(self.api, &resolved_key, presented.as_ref(), now)?;
        check_scope(&resolved_key, self.scope)?;
        Ok(LateCaller { resolved_key, person_access, now })
    }
}

async fn authenticate_key(
    api: &Api,
    presented: Option<&KeyCredentials<'_>>,
    now: Timestamp,
) -> Result<Arc<ResolvedKey>, Problem> {
    let presented = presented.ok_or_else(|| {
        Problem::unauthorized()
            .hint("Send a key of the project: `Authorization: Bearer qk_…`, or `apikey: qk_…`.")
    })?;
    api.project_key(presented.key, now).await
}

/// Returns the access of the person whose token was sent with the key, if there is one.
fn verify_person(
    api: &Api,
    known: &ResolvedKey,
    presented: Option<&KeyCredentials<'_>>,
    now: Timestamp,
) -> Result<Option<Arc<RowAccess>>, Problem> {
    let Some(token) = presented.and_then(|presented| presented.person) else { return Ok(None) };
    if known.key.kind == KeyKind::Secret {
        return Err(Problem::unauthorized().hint("Send a person token only with a publishable key."));
    }
    let trusted_issuer = known.trusted_issuer.as_ref().ok_or_else(|| {
        Problem::unauthorized().hint("The project's settings name no issuer of person tokens.")
    })?;
    let verified = api.person_tokens().verify(trusted_issuer, token, now);
    verified
        .map(Some)
        .map_err(|refused| Problem::unauthorized().hint(format!("The person token is not valid: {refused}.")))
}

/// Credentials of a request.
#[derive(Debug, PartialEq)]
struct KeyCredentials<'h> {
    key: &'h str,
    /// Token of a person, not yet verified.
    person: Option<&'h str>,
}

/// Returns the key of a request: that in `apikey`, or else the bearer token. A key in the URL is ignored, since URLs
/// appear in logs.
///
/// With `apikey`, the bearer token is a person token, unless it is the key again, as clients send it while nobody is
/// signed in.
fn key_credentials(headers: &HeaderMap) -> Option<KeyCredentials<'_>> {
    let apikey = single_value(headers, &APIKEY)?;
    let bearer = single_value(headers, &header::AUTHORIZATION)?
        .map(|value| value.split_once(' ').filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")))
        .map(|bearer| bearer.map_or("", |(_, token)| token.trim()));
    match (apikey, bearer) {
        (Some(key), bearer) => Some(KeyCredentials { key, person: bearer.filter(|bearer| *bearer != key) }),
        (None, Some(key)) => Some(KeyCredentials { key, person: None }),
        (None, None) => None,
    }
}

/// Returns the value of a header that may be absent; `None` if there are several, or it is not text.
fn single_value<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<Option<&'a str>> {
    let mut values = headers.get_all(name).iter();
    let Some(first) = values.next() else { return Some(None) };
    if values.next().is_some() { None } else { first.to_str().ok().map(Some) }
}

/// Refuses a key that can never have the scope. For a publishable key, policies decide what rows it can use.
fn check_scope(known: &ResolvedKey, scope: Option<KeyScope>) -> Result<(), Problem> {
    let Some(scope) = scope else { return Ok(()) };
    let allowed = match known.key.kind {
        KeyKind::Publishable => scope != KeyScope::SchemaWrite,
        KeyKind::Secret => known.key.scopes.contains(scope),
    };
    if allowed {
        return Ok(());
    }
    let message = format!("You need a secret key with the scope {}.", scope.as_str());
    Err(Problem::forbidden(INSUFFICIENT_SCOPE, message))
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn a_key_is_read_from_either_header_and_a_person_token_next_to_it() {
        type Case = (&'static [(&'static str, &'static str)], Option<(&'static str, Option<&'static str>)>);
        let cases: [Case; 10] = [
            (&[], None),
            (&[("authorization", "Bearer qk_a")], Some(("qk_a", None))),
            (&[("authorization", "bearer  qk_a ")], Some(("qk_a", None))),
            (&[("authorization", "Basic qk_a")], Some(("", None))),
            (&[("apikey", "qk_a")], Some(("qk_a", None))),
            (&[("apikey", "qk_a"), ("authorization", "Bearer qk_a")], Some(("qk_a", None))),
            (&[("apikey", "qk_a"), ("authorization", "Bearer eyJ")], Some(("qk_a", Some("eyJ")))),
            (&[("apikey", "qk_a"), ("authorization", "Basic qk_a")], Some(("qk_a", Some("")))),
            (&[("apikey", "qk_a"), ("apikey", "qk_b")], None),
            (&[("cookie", "qala_session=qss_a")], None),
        ];
        for (pairs, expected) in cases {
            let mut headers = HeaderMap::new();
            for (name, value) in pairs {
                headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
            }
            let expected = expected.map(|(key, person)| KeyCredentials { key, person });
            assert_eq!(key_credentials(&headers), expected, "{pairs:?}");
        }
    }
}
