//! Reading what an instruction may name.

use std::collections::BTreeMap;

use apps::{
    App,
    changes::{NamedAutomation, NamedConnection, NamedProject, Surroundings},
    versions::VersionContent,
};
use backend_data::Access;
use connections::{Connection, GateStatus, catalogue::catalogue, connection::ConnectionStatusName};
use kernel::{
    Context,
    authority::{AppRight, AppRightName, CanEdit},
    id::WorkspaceId,
    page::{MAX_LIMIT, PageRequest},
};
use projects::{ProjectFact, authorize_project};
use runs::Trigger;

use crate::{Application, Problem, rows_problem};

/// Most connections of a workspace that a planner looks through, in pages.
const MAX_CONNECTION_PAGES: usize = 5;

impl Application {
    /// Reads the surroundings of an app, and the files of its current version; `None` if it has no version. Tables are read
    /// only if they are asked for, because they are in another store.
    pub(super) async fn surroundings(
        &self,
        ctx: &Context,
        right: &AppRight<CanEdit>,
        app: &App,
        with_tables: bool,
    ) -> Result<Option<(Surroundings, BTreeMap<String, String>)>, Problem> {
        let workspace = right.member().workspace();
        let Some(current) = app.current_version else { return Ok(None) };
        let Some((version, content)) = self.store().version(workspace, app.id, current).await? else {
            return Ok(None);
        };
        let VersionContent { manifest, files } = content;
        // Code that cannot be checked now may answer visitors.
        let has_fetch = self.has_fetch(ctx, &version, &files).await.unwrap_or(true);
        let settings = self.store().workspace(workspace).await?;
        let gates = self.store().gates(workspace).await?.into_iter();
        let open = gates.filter(|gate| gate.connection.is_none() && gate.status == GateStatus::Open);
        let surroundings = Surroundings {
            version: version.id,
            manifest,
            has_fetch,
            sharing: app.sharing,
            may_share: right.rights().contains(AppRightName::CanShare),
            connections: self.named_connections(ctx, workspace).await?,
            connectors: catalogue().iter().filter_map(|entry| entry.connector_id.as_deref()).collect(),
            projects: self.named_projects(right, with_tables).await?,
            automations: self.named_automations(right).await?,
            timezone: settings.map_or_else(|| "UTC".to_owned(), |workspace| workspace.timezone),
            open_hosts: open.map(|gate| gate.host.to_string()).collect(),
        };
        Ok(Some((surroundings, files)))
    }

    /// Returns the connections of a workspace that are not disconnected, by what a person calls them.
    pub(crate) async fn named_connections(
        &self,
        ctx: &Context,
        workspace: WorkspaceId,
    ) -> Result<Vec<NamedConnection>, Problem> {
        let usable = self.usable_connections(ctx, workspace).await?.into_iter();
        let named =
            usable.map(|it| NamedConnection { id: it.id, name: it.display_name, connector: it.connector });
        Ok(named.collect())
    }

    /// Returns the connections of a workspace that are not disconnected.
    pub(crate) async fn usable_connections(
        &self,
        ctx: &Context,
        workspace: WorkspaceId,
    ) -> Result<Vec<Connection>, Problem> {
        let mut found = Vec::new();
        let mut page = PageRequest { limit: MAX_LIMIT, after: None };
        for _ in 0..MAX_CONNECTION_PAGES {
            let views = self.store().list_connections(workspace, ctx.now, page).await?;
            let is_full = views.len() > MAX_LIMIT as usize;
            page.after = views.last().map(|view| view.connection.id.uuid());
            let usable = views.into_iter().map(|view| view.connection);
            let usable = usable.filter(|it| it.status.name() != ConnectionStatusName::Disconnected);
            found.extend(usable);
            if !is_full {
                break;
            }
        }
        found.dedup_by_key(|it| it.id);
        Ok(found)
    }

    async fn named_projects(
        &self,
        right: &AppRight<CanEdit>,
        with_tables: bool,
    ) -> Result<Vec<NamedProject>, Problem> {
        let member = right.member();
        let mut found = Vec::new();
        for summary in self.store().projects(member.workspace()).await? {
            let project = summary.project;
            let fact = ProjectFact {
                project: project.id,
                workspace: project.workspace,
                created_by: project.created_by,
            };
            let Ok(access) = authorize_project(member.clone(), Some(&fact)) else { continue };
            let tables = if with_tables {
                let project_ref = self.project_ref(&project).await?;
                let tables = self.rows().schema(&project_ref, &Access::Owner).await.map_err(rows_problem)?;
                tables.into_iter().map(|table| table.name).collect()
            } else {
                Vec::new()
            };
            found.push(NamedProject {
                id: project.id,
                name: project.name,
                slug: project.slug,
                may_write: access.can_edit(),
                tables,
            });
        }
        Ok(found)
    }

    async fn named_automations(&self, right: &AppRight<CanEdit>) -> Result<Vec<NamedAutomation>, Problem> {
        let found = self.store().automations_of_app(right.member().workspace(), right.app()).await?;
        let named = found.into_iter().map(|automation| NamedAutomation {
            id: automation.id,
            is_active: automation.status == runs::AutomationStatus::Active,
            schedule: match automation.trigger {
                Trigger::Schedule(schedule) => {
                    Some((schedule.cron().to_owned(), schedule.timezone().to_owned()))
                }
                _ => None,
            },
            name: automation.name,
            retries: automation.retries,
        });
        Ok(named.collect())
    }
}
