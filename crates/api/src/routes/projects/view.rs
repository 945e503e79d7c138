//! Backend projects on the wire.

use backend_data::{Access, Error, ErrorKind, ProjectRef, ReadOptions};
use chrono::{DateTime, Utc};
use kernel::{
    deletion::RESTORE_PERIOD,
    id::{ProjectId, UserId, WorkspaceId},
};
use projects::{
    Project, ProjectAccess,
    identity_provider::IgnoredKey,
    projects::{ProjectSummary, deletion::DeletedProject},
    traffic::TrafficMetrics,
};
use serde::Serialize;
use utoipa::ToSchema;

use super::settings_view::{IgnoredKeyView, SettingsView};
use crate::{
    http::{conditional::Representation, table_view::TableView},
    state::Api,
};
use application::{Problem, Tx, row_counts::RowCount, rows_problem};

/// A backend project.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Project)]
pub(crate) struct ProjectView {
    id: ProjectId,
    #[schema(min_length = 2, max_length = 60)]
    name: String,
    slug: String,
    #[schema(max_length = 280)]
    description: String,
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    created_at: DateTime<Utc>,
    /// Time of the deletion; null for a project that is not deleted.
    #[schema(required)]
    #[serde(serialize_with = "kernel::rfc3339::millis_or_null")]
    deleted_at: Option<DateTime<Utc>>,
    /// Time from which a deleted project can no longer be restored.
    #[schema(required)]
    #[serde(serialize_with = "kernel::rfc3339::millis_or_null")]
    restorable_until: Option<DateTime<Utc>>,
    /// URL of the data API, to which `/` and the name of a table are appended.
    url: String,
    table_count: u64,
    /// Number of keys that are not revoked.
    key_count: u64,
    /// Number of rows of all tables at `rowCountAt`. A read counts them one by one; a list returns the last number where
    /// counting takes more than 20 milliseconds. 0 until they are counted for the first time.
    row_count: u64,
    /// Time at which the rows were counted; null if that took too long and they were never counted before.
    #[schema(required)]
    #[serde(serialize_with = "kernel::rfc3339::millis_or_null")]
    row_count_at: Option<DateTime<Utc>>,
    /// Bytes that the rows take with their indexes; an estimate on PostgreSQL. Null in lists, and if determining it
    /// takes too long.
    #[schema(required)]
    stored_bytes: Option<u64>,
    /// Maximum number of bytes by the workspace's plan. At the limit, writes other than deletes are refused.
    max_stored_bytes: u64,
    /// Average number of requests per minute to the data API in the last hour.
    requests_per_min: f64,
    workspace_id: WorkspaceId,
    created_by: UserId,
    settings: SettingsView,
    tables: Vec<TableView>,
    can_edit: bool,
    can_admin: bool,
    /// Keys of the request that verify no tokens, and were left out. Only in the response to a change of `identity`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Vec<IgnoredKeyView>, required = false)]
    ignored_keys: Option<Vec<IgnoredKeyView>>,
}

/// The tables are in another store than the settings, and change apart from them.
impl Representation for ProjectView {
    const COMPUTED: &'static [&'static str] = &[
        "ignoredKeys",
        "keyCount",
        "maxStoredBytes",
        "requestsPerMin",
        "rowCount",
        "rowCountAt",
        "storedBytes",
        "tableCount",
        "tables",
    ];
}

impl ProjectView {
    /// Returns what the control plane stores of a project.
    fn of(api: &Api, project: Project, access: &ProjectAccess) -> Self {
        Self {
            id: project.id,
            name: project.name,
            slug: project.slug,
            description: project.description,
            created_at: project.created_at,
            deleted_at: None,
            restorable_until: None,
            url: format!("{}/v1/projects/{}/rest", api.settings().public_url, project.id),
            table_count: 0,
            key_count: 0,
            row_count: 0,
            row_count_at: None,
            stored_bytes: None,
            max_stored_bytes: 0,
            requests_per_min: 0.0,
            workspace_id: project.workspace,
            created_by: project.created_by,
            settings: project.settings.into(),
            tables: Vec::new(),
            can_edit: access.can_edit(),
            can_admin: access.can_manage(),
            ignored_keys: None,
        }
    }

    /// Returns what the control plane stores of a project, locked until the transaction ends.
    ///
    /// # Errors
    /// 404 `project_not_found` if it was deleted; a [`Problem`] if the store fails.
    pub(super) async fn locked(
        tx: &mut dyn Tx,
        api: &Api,
        access: &ProjectAccess,
    ) -> Result<Option<Self>, Problem> {
        let found = tx.project_for_update(access.member().workspace(), access.project()).await?;
        let project = found.ok_or_else(|| Problem::not_found("project"))?;
        Ok(Some(Self::of(api, project, access)))
    }

    /// Returns the project with the keys of the request that were left out.
    pub(super) fn with_ignored_keys(self, ignored: Vec<IgnoredKey>) -> Self {
        Self { ignored_keys: Some(ignored.into_iter().map(IgnoredKeyView::from).collect()), ..self }
    }

    /// Returns a project without the numbers of rows and bytes.
    async fn without_counts(
        api: &Api,
        summary: ProjectSummary,
        access: &ProjectAccess,
    ) -> Result<Self, Problem> {
        let ProjectSummary { project, key_count } = summary;
        let project_ref = api.project_ref(&project).await?;
        let tables = api.rows().schema(&project_ref, &Access::Owner).await.map_err(rows_problem)?;
        let begin = TrafficMetrics::window_start(api.now());
        let metrics =
            TrafficMetrics::from_counts(&api.store().project_request_counts(project.id, begin).await?, begin);
        let max_stored_bytes = api.max_stored_bytes(project.workspace).await?;
        Ok(Self {
            table_count: tables.len() as u64,
            key_count,
            max_stored_bytes,
            requests_per_min: metrics.requests_per_minute(),
            tables: tables.into_iter().map(TableView::tagged).collect::<Result<_, _>>()?,
            ..Self::of(api, project, access)
        })
    }

    fn set_row_count(&mut self, count: Option<RowCount>) {
        self.row_count = count.map_or(0, |count| count.rows);
        self.row_count_at = count.map(|count| count.at);
    }

    /// Returns a project as a list shows it: with the number of rows that is known, and without that of bytes.
    pub(super) async fn listed(
        api: &Api,
        summary: ProjectSummary,
        access: &ProjectAccess,
    ) -> Result<Self, Problem> {
        let project = summary.project.clone();
        let mut view = Self::without_counts(api, summary, access).await?;
        let tables = view.tables.iter().map(|table| table.name.clone()).collect();
        view.set_row_count(api.listed_row_count(&project, tables).await?);
        Ok(view)
    }

    /// Returns a deleted project as a list shows it.
    pub(super) async fn of_deleted(
        api: &Api,
        deleted: DeletedProject,
        access: &ProjectAccess,
    ) -> Result<Self, Problem> {
        let DeletedProject { summary, deleted_at } = deleted;
        let view = Self::listed(api, summary, access).await?;
        let restorable_until = Some(deleted_at + RESTORE_PERIOD);
        Ok(Self { deleted_at: Some(deleted_at), restorable_until, ..view })
    }

    /// Returns a project with the numbers of rows and bytes.
    pub(super) async fn with_counts(
        api: &Api,
        summary: ProjectSummary,
        access: &ProjectAccess,
    ) -> Result<Self, Problem> {
        let project_ref = api.project_ref(&summary.project).await?;
        let counted_at = api.now();
        let mut view = Self::without_counts(api, summary, access).await?;
        for table in &mut view.tables {
            table.row_count = count_rows(api, &project_ref, &table.name).await?;
        }
        let project = view.id;
        let rows: Option<u64> = view.tables.iter().map(|table| table.row_count).sum();
        match rows {
            Some(rows) => {
                api.row_counts().record(project, rows, counted_at);
                view.set_row_count(Some(RowCount { rows, at: counted_at }));
            }
            None => view.set_row_count(api.row_counts().last(project)),
        }
        view.stored_bytes = if_available(api.rows().stored_bytes(&project_ref).await)?;
        Ok(view)
    }
}

/// Returns the number of rows of a table; `None` if counting takes too long or the table was just dropped.
async fn count_rows(api: &Api, project_ref: &ProjectRef, table: &str) -> Result<Option<u64>, Problem> {
    let options = ReadOptions { include_count: true, ..ReadOptions::default() };
    let page = api.rows().list(project_ref, &Access::Owner, table, "select=id&limit=0", &options).await;
    if_available(page.map(|page| page.total)).map(Option::flatten)
}

/// Returns a figure of the store; `None` if it took too long or its object no longer exists.
fn if_available<T>(found: Result<T, Error>) -> Result<Option<T>, Problem> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if matches!(error.kind(), ErrorKind::Timeout | ErrorKind::NotFound) => Ok(None),
        Err(error) => Err(rows_problem(error)),
    }
}
