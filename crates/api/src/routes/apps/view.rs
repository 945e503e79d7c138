//! Apps and versions on the wire.

use application::{Problem, Tx, overview::app_status};
use apps::{App, AppStatus, AppVersion, Category, VersionKind, trust::TrustBand, versions::ChangeBuilder};
use chrono::{DateTime, Utc};
use kernel::{
    Context,
    authority::{AppAccess, AppRightName, AppRights, Sharing},
    id::{AppId, UserId, VersionId, WorkspaceId},
};
use observability::{
    AppHealth,
    health::{HealthReason, HealthReasonCode},
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    http::{conditional::Representation, schemas},
    routes::app_proxy,
    state::Api,
};

/// An app.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = App)]
pub(crate) struct AppView {
    id: AppId,
    workspace_id: WorkspaceId,
    #[schema(min_length = 2, max_length = 60)]
    name: String,
    slug: String,
    #[schema(max_length = 280)]
    description: String,
    archetype: String,
    #[schema(value_type = schemas::apps::Category)]
    category: Category,
    /// State, from what happened to the app's runs.
    #[schema(value_type = schemas::apps::AppStatus)]
    status: AppStatus,
    /// Reasons for which the app is not healthy, the gravest first.
    status_reasons: Vec<StatusReason>,
    /// Time of the last run or response that ended well, to the minute; null if none is known.
    #[schema(required)]
    #[serde(serialize_with = "kernel::rfc3339::millis_or_null")]
    observed_at: Option<DateTime<Utc>>,
    /// Number of questions of its runs that wait for an answer.
    waiting_approvals: u64,
    /// `true` if somebody paused the app.
    paused: bool,
    sharing: Sharing,
    #[schema(required)]
    current_version_id: Option<VersionId>,
    /// URL at which the app responds to HTTP requests.
    url: String,
    /// Your rights on the app.
    rights: Vec<AppRightName>,
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    created_at: DateTime<Utc>,
    created_by: UserId,
}

impl Representation for AppView {
    /// `paused` and `currentVersionId` are what people set of the state.
    const COMPUTED: &'static [&'static str] = &["status", "statusReasons", "observedAt", "waitingApprovals"];
}

/// A reason for which an app is not healthy.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub(crate) struct StatusReason {
    #[schema(value_type = schemas::observability::HealthReasonCode)]
    code: HealthReasonCode,
    /// Number of what the code counts.
    #[schema(minimum = 1)]
    count: u64,
}

impl From<HealthReason> for StatusReason {
    fn from(reason: HealthReason) -> Self {
        Self { code: reason.code, count: reason.count }
    }
}

impl AppView {
    /// Returns an app as the caller reads it, locked until the transaction ends.
    ///
    /// # Errors
    /// 404 `app_not_found` if it was deleted; a [`Problem`] if the store fails.
    pub(super) async fn locked(
        tx: &mut dyn Tx,
        api: &Api,
        access: &AppAccess,
    ) -> Result<Option<Self>, Problem> {
        let app = tx.app_for_update(access.member().workspace(), access.app()).await?;
        let app = app.ok_or_else(|| Problem::not_found("app"))?;
        // The tag does not depend on the health.
        Ok(Some(Self::of(api, app, access.rights(), &AppHealth::default())))
    }

    /// Returns an app with its state as it is now.
    ///
    /// # Errors
    /// A [`Problem`] if the store fails.
    pub(super) async fn read(
        api: &Api,
        ctx: &Context,
        access: &AppAccess,
        app: App,
    ) -> Result<Self, Problem> {
        let mut health = api.health_of(access.member(), &[app.id], ctx.now).await?;
        let health = health.remove(&app.id).unwrap_or_default();
        Ok(Self::of(api, app, access.rights(), &health))
    }

    pub(crate) fn of(api: &Api, app: App, rights: AppRights, health: &AppHealth) -> Self {
        Self {
            status: app_status(&app, health),
            status_reasons: health.reasons().into_iter().map(StatusReason::from).collect(),
            observed_at: health.observed_at,
            waiting_approvals: health.waiting_approvals,
            paused: app.is_paused,
            url: app_proxy::url(api, &app.slug),
            id: app.id,
            workspace_id: app.workspace,
            name: app.name,
            slug: app.slug,
            description: app.description,
            archetype: app.archetype,
            category: app.category,
            sharing: app.sharing,
            current_version_id: app.current_version,
            rights: rights.to_vec(),
            created_at: app.created_at,
            created_by: app.created_by,
        }
    }
}

/// A version of an app.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AppVersion)]
pub(crate) struct VersionView {
    id: VersionId,
    app_id: AppId,
    #[schema(minimum = 1)]
    number: u32,
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    created_at: DateTime<Utc>,
    created_by: UserId,
    #[schema(required)]
    created_by_name: Option<String>,
    /// SHA-256 over manifest and files, in hexadecimal.
    bundle_hash: String,
    #[schema(maximum = 100)]
    trust_score: u8,
    #[schema(value_type = schemas::apps::TrustBand)]
    trust_band: TrustBand,
    #[schema(value_type = schemas::apps::VersionKind)]
    kind: VersionKind,
    #[schema(min_length = 1, max_length = 300)]
    summary: String,
    /// Sentence from which a builder made the version; null for other versions.
    #[schema(required)]
    instruction: Option<String>,
    #[schema(required)]
    base_version_id: Option<VersionId>,
    is_current: bool,
    /// `false` once the files of the version are deleted: it is not among the newest 50 of its app, and nothing names it.
    runnable: bool,
    /// Builder that made the version; null for other versions.
    #[schema(required, value_type = Option<schemas::apps::ChangeBuilder>)]
    builder: Option<ChangeBuilder>,
}

impl VersionView {
    pub(crate) fn of(version: AppVersion, current: Option<VersionId>) -> Self {
        Self {
            trust_band: version.trust_band(),
            is_current: current == Some(version.id),
            id: version.id,
            app_id: version.app,
            number: version.number,
            created_at: version.created_at,
            created_by: version.created_by,
            created_by_name: version.created_by_name,
            bundle_hash: version.bundle_hash,
            trust_score: version.trust_score,
            kind: version.kind,
            summary: version.summary,
            builder: version.built_from.as_ref().map(|built| built.builder),
            instruction: version.built_from.map(|built| built.instruction),
            base_version_id: version.base,
            runnable: version.is_runnable,
        }
    }
}
