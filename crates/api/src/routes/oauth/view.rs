//! Agent clients on the wire.

use chrono::{DateTime, Utc};
use identity::oauth::{AgentAccess, Authorization, ClientKind, Grant};
use kernel::{
    authority::Role,
    id::{AuthorizationId, GrantId, WorkspaceId},
};
use serde::Serialize;
use utoipa::ToSchema;
use workspace::workspaces::WorkspaceSummary;

use crate::http::schemas;

/// An agent client's authorization request.
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
    /// Requested access; you may allow less.
    #[schema(value_type = schemas::identity::AgentAccess)]
    requested_access: AgentAccess,
    user: AuthorizationUser,
    /// Workspaces for which you can allow access.
    workspaces: Vec<AuthorizationWorkspace>,
}

/// The agent client.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AuthorizationClient {
    /// Name that the client chose; not verified.
    name: String,
    #[schema(value_type = schemas::identity::ClientKind)]
    kind: ClientKind,
    /// Host that the client's id proves.
    #[schema(required)]
    host: Option<String>,
    /// Well-known publisher to which the host belongs.
    #[schema(required)]
    recognized: Option<String>,
    /// Host of the client's homepage, as it claims; not verified.
    #[schema(required)]
    homepage_host: Option<String>,
}

/// Redirect URI to which the response goes.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AuthorizationRedirect {
    origin: String,
    host: String,
    scheme: String,
    /// `true` if it leads to a program on your own machine.
    local: bool,
}

/// The resource that the client wants to access.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AuthorizationResource {
    name: &'static str,
    url: String,
}

/// The person who decides.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AuthorizationUser {
    name: String,
    email: String,
}

/// A workspace for which access can be allowed.
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

/// A grant to an agent client in a workspace, without its tokens.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OAuthGrant)]
pub(crate) struct GrantView {
    id: GrantId,
    client_name: String,
    #[schema(value_type = schemas::identity::ClientKind)]
    client_kind: ClientKind,
    #[schema(required)]
    client_host: Option<String>,
    /// Well-known publisher to which the host belongs.
    #[schema(required)]
    recognized: Option<String>,
    #[schema(value_type = schemas::identity::AgentAccess)]
    access: AgentAccess,
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    created_at: DateTime<Utc>,
    #[schema(required)]
    #[serde(serialize_with = "kernel::rfc3339::millis_or_null")]
    last_used_at: Option<DateTime<Utc>>,
    /// Time at which the grant expires unless the client uses it before.
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
