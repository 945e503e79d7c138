//! Agent clients as they stand on the wire.

use chrono::{DateTime, Utc};
use identity::oauth::{AgentAccess, Authorization, ClientKind, Grant};
use kernel::{
    authority::Role,
    id::{AuthorizationId, GrantId, WorkspaceId},
};
use serde::Serialize;
use utoipa::ToSchema;
use workspace::workspaces::WorkspaceSummary;

/// An agent client's question whether it may come in.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OAuthAuthorization)]
pub(crate) struct AuthorizationView {
    id: AuthorizationId,
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    expires_at: DateTime<Utc>,
    client: AuthorizationClient,
    redirect: AuthorizationRedirect,
    resource: AuthorizationResource,
    /// What it asks to do; it may be allowed less.
    requested_access: AgentAccess,
    user: AuthorizationUser,
    /// Where the person may let it in.
    workspaces: Vec<AuthorizationWorkspace>,
}

/// Who asks.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AuthorizationClient {
    /// What it calls itself; proves nothing.
    name: String,
    kind: ClientKind,
    /// The host that its id proves.
    #[schema(required)]
    host: Option<String>,
    /// Whose it is, when that host is of somebody well known.
    #[schema(required)]
    recognized: Option<String>,
    /// The host of the page it names as its own; proves nothing.
    #[schema(required)]
    homepage_host: Option<String>,
}

/// Where the answer goes.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AuthorizationRedirect {
    origin: String,
    host: String,
    scheme: String,
    /// Whether that is a program on the person's own machine.
    local: bool,
}

/// What the client wants into.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AuthorizationResource {
    name: &'static str,
    url: String,
}

/// Who decides.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AuthorizationUser {
    name: String,
    email: String,
}

/// A workspace the client may be let into.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AuthorizationWorkspace {
    id: WorkspaceId,
    name: String,
    slug: String,
    role: Role,
}

impl AuthorizationView {
    pub(super) fn of(
        authorization: Authorization,
        user: identity::User,
        workspaces: Vec<WorkspaceSummary>,
    ) -> Self {
        let redirect = &authorization.redirect_uri;
        Self {
            id: authorization.id,
            expires_at: authorization.expires_at,
            redirect: AuthorizationRedirect {
                origin: redirect.origin(),
                host: redirect.host().to_owned(),
                scheme: redirect.scheme().to_owned(),
                local: redirect.is_local(),
            },
            client: AuthorizationClient {
                recognized: authorization.client.verified_publisher().map(str::to_owned),
                name: authorization.client.name,
                kind: authorization.client.kind,
                host: authorization.client.host,
                homepage_host: authorization.homepage_host,
            },
            resource: AuthorizationResource { name: "Qala", url: authorization.audience },
            requested_access: authorization.requested,
            user: AuthorizationUser { name: user.name, email: user.email.to_string() },
            workspaces: workspaces
                .into_iter()
                .map(|workspace| AuthorizationWorkspace {
                    id: workspace.id,
                    name: workspace.name,
                    slug: workspace.slug,
                    role: workspace.role,
                })
                .collect(),
        }
    }
}

/// An agent client that was let into a workspace; never its tokens.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OAuthGrant)]
pub(crate) struct GrantView {
    id: GrantId,
    client_name: String,
    client_kind: ClientKind,
    #[schema(required)]
    client_host: Option<String>,
    /// Whose it is, when that host is of somebody well known.
    #[schema(required)]
    recognized: Option<String>,
    access: AgentAccess,
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    created_at: DateTime<Utc>,
    #[schema(required)]
    #[serde(serialize_with = "kernel::rfc3339::millis_or_null")]
    last_used_at: Option<DateTime<Utc>>,
    /// When it ends, unless the client comes back before.
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    expires_at: DateTime<Utc>,
    #[schema(required)]
    #[serde(serialize_with = "kernel::rfc3339::millis_or_null")]
    revoked_at: Option<DateTime<Utc>>,
}

impl From<Grant> for GrantView {
    fn from(grant: Grant) -> Self {
        Self {
            id: grant.id,
            recognized: grant.client.verified_publisher().map(str::to_owned),
            client_name: grant.client.name,
            client_kind: grant.client.kind,
            client_host: grant.client.host,
            access: grant.access,
            created_at: grant.created_at,
            last_used_at: grant.last_used_at,
            expires_at: grant.expires_at,
            revoked_at: grant.revoked_at,
        }
    }
}
