//! Connections on the wire.

use std::collections::{BTreeMap, BTreeSet};

use application::{Problem, ProblemKind, Tx, overview::refine};
use chrono::{DateTime, Utc};
use connections::{
    Auth, GateStatus, HttpConnection,
    connection::{ConnectionStatusName, ConnectionUser, ConnectionView, ExtraHeader},
    gates::Method,
    last_check::{Checked, LastCheck},
};
use kernel::{
    Context,
    authority::{Member, Role},
    id::{AppId, ConnectionId, WorkspaceId},
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    http::{conditional::Representation, schemas},
    state::Api,
};

/// A service that apps of the workspace can call with a stored credential.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Connection)]
pub(crate) struct ConnectionItem {
    id: ConnectionId,
    workspace_id: WorkspaceId,
    /// `http` for a connection that was described by hand, otherwise the id of a connector in the catalogue.
    connector_id: String,
    #[schema(min_length = 1, max_length = 60)]
    display_name: String,
    /// `error` after the service rejected the credential three times in a row; `expired` when the grant has ended.
    #[schema(value_type = schemas::connections::ConnectionStatus)]
    status: ConnectionStatusName,
    /// Time at which the secret was last given.
    #[schema(required)]
    #[serde(serialize_with = "kernel::rfc3339::millis_or_null")]
    connected_at: Option<DateTime<Utc>>,
    /// Whether a secret is stored. It is never returned.
    secret: SecretState,
    /// Id of the master key with which the secret is sealed.
    #[schema(required)]
    key_id: Option<String>,
    #[schema(required)]
    http: Option<HttpConnectionItem>,
    /// Values of the connector's fields.
    values: BTreeMap<String, String>,
    /// Service account, for that kind of `auth`.
    #[serde(skip_serializing_if = "Option::is_none")]
    service_account: Option<ServiceAccount>,
    /// Whether requests may pass: a connection is its own gate.
    #[schema(value_type = schemas::connections::GateStatus)]
    gate: GateStatus,
    /// Apps whose current version names the connection, and that you may see.
    used_by: Vec<ConnectionUserItem>,
    /// Requests of the last 24 hours.
    health: Health,
    /// Last test of the connection as it is now; null if it was not tested since its last change.
    #[schema(required)]
    last_check: Option<LastCheckView>,
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    created_at: DateTime<Utc>,
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    updated_at: DateTime<Utc>,
}

/// Whether a secret is stored.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SecretState {
    /// A secret is stored and never returned.
    WriteOnly,
    /// No secret is stored.
    None,
}

/// Where requests through a connection go, and how they prove themselves.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = HttpConnection)]
pub(crate) struct HttpConnectionItem {
    /// URL that paths are appended to. Of a secret URL only the host is shown.
    #[schema(min_length = 9, max_length = 700)]
    base_url: String,
    #[schema(min_length = 3, max_length = 253)]
    host: String,
    #[schema(value_type = schemas::connections::ConnectionAuth)]
    auth: Auth,
    #[schema(value_type = Vec<schemas::apps::HttpMethod>, min_items = 1, max_items = 5)]
    methods: Vec<Method>,
    /// Path below the base URL that requests must be under.
    #[schema(max_length = 512)]
    path_prefix: String,
    #[schema(value_type = Vec<schemas::connections::ExtraHeader>, max_items = 8)]
    headers: Vec<ExtraHeader>,
    /// Path of a request that changes nothing.
    #[schema(required, max_length = 512)]
    test_path: Option<String>,
    testable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    preset: Option<String>,
}

/// A service account.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ServiceAccount {
    /// E-mail address of the account.
    #[schema(min_length = 3, max_length = 254)]
    email: String,
}

/// An app whose current version names the connection.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ConnectionUser)]
pub(crate) struct ConnectionUserItem {
    app_id: AppId,
    name: String,
    archetype: String,
    #[schema(value_type = schemas::apps::Category)]
    category: apps::Category,
    #[schema(value_type = schemas::apps::AppStatus)]
    status: apps::AppStatus,
}

/// Requests of the last 24 hours.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ConnectionHealth)]
pub(crate) struct Health {
    /// Requests that were sent.
    #[serde(rename = "calls24h")]
    calls_24h: u64,
    /// Requests that failed, at the network or with a status of 400 or more.
    #[serde(rename = "errors24h")]
    errors_24h: u64,
    /// Requests that a rule refused.
    #[serde(rename = "blocked24h")]
    blocked_24h: u64,
    /// Time of the last request that was sent.
    #[schema(required)]
    #[serde(serialize_with = "kernel::rfc3339::millis_or_null")]
    last_call_at: Option<DateTime<Utc>>,
}

/// The last test of a connection.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ConnectionCheck)]
pub(crate) struct LastCheckView {
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    at: DateTime<Utc>,
    /// `gate` if a request was sent, `format` if the stored secret was only opened and its form checked.
    #[schema(value_type = schemas::connections::Checked)]
    checked: Checked,
    /// True if the connection worked; null if the service could not be asked.
    #[schema(required)]
    ok: Option<bool>,
    /// Status of the response.
    #[schema(required, maximum = 999)]
    status: Option<u16>,
    /// Milliseconds until the response.
    #[schema(required)]
    latency_ms: Option<u64>,
    /// Reason why it did not work or could not be asked.
    #[schema(required)]
    reason: Option<String>,
}

impl From<LastCheck> for LastCheckView {
    fn from(check: LastCheck) -> Self {
        let LastCheck { revision: _, at, checked, ok, status, latency_ms, reason } = check;
        Self { at, checked, ok, status, latency_ms, reason }
    }
}

impl Representation for ConnectionItem {
    const COMPUTED: &'static [&'static str] = &["health", "lastCheck", "usedBy", "status"];
}

impl ConnectionItem {
    /// Returns a connection of the member's workspace, locked until the transaction ends.
    ///
    /// # Errors
    /// 404 `connection_not_found` if there is none; a [`Problem`] if the store fails.
    pub(super) async fn locked(
        tx: &mut dyn Tx,
        member: &Member,
        id: ConnectionId,
    ) -> Result<Option<Self>, Problem> {
        let found = tx.connection_for_update(member.workspace(), id).await?;
        let connection = found.ok_or_else(|| Problem::not_found("connection"))?;
        Ok(Some(ConnectionView::bare(connection).into()))
    }

    /// Returns a connection with the states of the apps that name it.
    ///
    /// # Errors
    /// A [`Problem`] if the store fails.
    pub(super) async fn of(
        api: &Api,
        ctx: &Context,
        member: &Member,
        view: ConnectionView,
    ) -> Result<Self, Problem> {
        let mut item = Self::from(view);
        set_app_statuses(api, ctx, member, std::slice::from_mut(&mut item)).await?;
        Ok(item)
    }
}

/// Sets the states of the apps that name connections.
pub(super) async fn set_app_statuses(
    api: &Api,
    ctx: &Context,
    member: &Member,
    items: &mut [ConnectionItem],
) -> Result<(), Problem> {
    let apps: BTreeSet<AppId> =
        items.iter().flat_map(|item| item.used_by.iter().map(|user| user.app_id)).collect();
    let apps: Vec<AppId> = apps.into_iter().collect();
    let health = api.health_of(member, &apps, ctx.now).await?;
    for user in items.iter_mut().flat_map(|item| &mut item.used_by) {
        if let Some(health) = health.get(&user.app_id) {
            user.status = refine(user.status, health);
        }
    }
    Ok(())
}

/// Leaves out the apps that the caller may not see. Admins see all.
pub(super) async fn hide_apps(
    api: &Api,
    ctx: &Context,
    member: &Member,
    views: &mut [ConnectionView],
) -> Result<(), Problem> {
    if member.role().at_least(Role::Admin) {
        return Ok(());
    }
    let named = views.iter().flat_map(|view| view.used_by.iter().map(|user| user.app)).collect();
    let visible = visible_apps(api, ctx, named).await?;
    for view in views {
        view.used_by.retain(|user| visible.contains(&user.app));
    }
    Ok(())
}

/// Returns the apps among these that the caller may see.
///
/// # Errors
/// A [`Problem`] if the store fails.
pub(in crate::routes) async fn visible_apps(
    api: &Api,
    ctx: &Context,
    mut apps: BTreeSet<AppId>,
) -> Result<BTreeSet<AppId>, Problem> {
    for app in apps.clone() {
        match api.app_by_id(ctx, app).await {
            Ok(_) => {}
            Err(problem) if problem.kind == ProblemKind::NotFound => {
                apps.remove(&app);
            }
            Err(problem) => return Err(problem),
        }
    }
    Ok(apps)
}

impl From<HttpConnection> for HttpConnectionItem {
    fn from(http: HttpConnection) -> Self {
        Self {
            base_url: http.base_url.as_str().to_owned(),
            host: http.host.as_str().to_owned(),
            auth: http.auth,
            methods: http.methods,
            path_prefix: http.path_prefix,
            headers: http.headers,
            test_path: http.test_path,
            testable: http.testable,
            preset: http.preset,
        }
    }
}

impl From<ConnectionUser> for ConnectionUserItem {
    fn from(user: ConnectionUser) -> Self {
        Self {
            app_id: user.app,
            name: user.name,
            archetype: user.archetype,
            category: user.category.parse().unwrap_or(apps::Category::Interface),
            status: if user.is_paused { apps::AppStatus::Paused } else { apps::AppStatus::Healthy },
        }
    }
}

impl From<ConnectionView> for ConnectionItem {
    fn from(view: ConnectionView) -> Self {
        let ConnectionView { connection, health, used_by, last_check } = view;
        let secret = if connection.has_secret() { SecretState::WriteOnly } else { SecretState::None };
        Self {
            id: connection.id,
            workspace_id: connection.workspace,
            connector_id: connection.connector,
            display_name: connection.display_name,
            status: connection.status.name(),
            connected_at: connection.connected_at,
            secret,
            key_id: connection.key_id,
            http: Some(connection.http.into()),
            values: connection.values,
            service_account: connection.service_account.map(|email| ServiceAccount { email }),
            gate: connection.gate,
            used_by: used_by.into_iter().map(ConnectionUserItem::from).collect(),
            health: Health {
                calls_24h: health.calls_24h,
                errors_24h: health.errors_24h,
                blocked_24h: health.blocked_24h,
                last_call_at: health.last_call_at,
            },
            last_check: last_check.map(Into::into),
            created_at: connection.created_at,
            updated_at: connection.updated_at,
        }
    }
}
