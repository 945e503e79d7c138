//! The starter world of a new workspace: a sample app, its gate, a road with a signed webhook, and a backend project
//! that the app writes to. Several domains' use cases in one transaction.

use std::collections::BTreeMap;

use apps::{
    Category, Manifest, VersionKind,
    apps::CreateApp,
    manifest::{
        DataAccess, DataPermission, EgressPermission, HttpMethod, ManifestSharing, ManifestTrigger, Roi,
    },
    versions::{CreateVersion, ENTRY_FILE},
};
use backend_data::{Access, ColumnType, NewColumn, NewTable, ProjectRef};
use connections::{Gate, GateHost, gates::Method};
use kernel::{
    Context, Problem,
    authority::{AppRights, CanEdit, MembershipFact, Role, Sharing, authorize_app, authorize_member},
    id::{AppId, AutomationId, GateId, ProjectId, WorkspaceId},
};
use projects::projects::CreateProject;
use runs::{
    Trigger,
    automations::CreateAutomation,
    webhooks::{ConfigureWebhook, Keys, ProofMode},
};

use crate::{ports::Tx, routes::rest_problem, state::Api};

const SOURCE: &str = include_str!("starter/main.js");
const HOST: &str = "api.github.com";
/// What the sample app calls the project.
const BINDING: &str = "main";
const TABLE: &str = "notes";

/// What was laid.
pub(crate) struct Starter {
    pub(crate) app: AppId,
    pub(crate) gate: GateId,
    pub(crate) road: AutomationId,
}

/// Makes the place for a project's rows, with a sample table.
///
/// This is another store than the control plane's, so it happens before the transaction: what fails after it is given to
/// [`or_take_back`].
pub(crate) async fn make_room(api: &Api, ctx: &Context) -> Result<ProjectId, Problem> {
    let id: ProjectId = ctx.id();
    let place = place(id, api.config.new_projects_shard)?;
    let rows = &api.services.rows;
    rows.create_project(&place).await.map_err(rest_problem)?;
    let table = NewTable {
        columns: vec![
            NewColumn::new("title", ColumnType::Text),
            NewColumn::new("source", ColumnType::Text),
            NewColumn::new("data", ColumnType::Json),
            NewColumn::new("done", ColumnType::Boolean),
        ],
        ..NewTable::new(TABLE)
    };
    let made = rows.create_table(&place, &Access::Owner, table).await.map_err(rest_problem);
    or_take_back(api, id, made).await?;
    Ok(id)
}

/// What came of a project whose place was made; where it came to nothing, the place is taken away again.
///
/// A place that cannot be taken away stays, and nothing points at it.
pub(crate) async fn or_take_back<T, E>(api: &Api, project: ProjectId, made: Result<T, E>) -> Result<T, E> {
    if made.is_err()
        && let Err(problem) = take_back(api, project).await
    {
        let error = &problem as &dyn std::error::Error;
        tracing::warn!(error, %project, "an empty place of a project is left over");
    }
    made
}

async fn take_back(api: &Api, project: ProjectId) -> Result<(), Problem> {
    // A commit whose answer was lost may have been made.
    if api.store().project_fact(project).await?.is_some() {
        return Ok(());
    }
    let place = place(project, api.config.new_projects_shard)?;
    api.services.rows.drop_project(&place).await.map_err(rest_problem)
}

/// Where a project's rows are.
pub(crate) fn place(project: ProjectId, shard: u16) -> Result<ProjectRef, Problem> {
    let id = project.to_string().parse().map_err(rest_problem)?;
    Ok(ProjectRef::new(id, shard))
}

/// Lays the starter world of a workspace that was made in this very transaction.
pub(crate) async fn lay(
    api: &Api,
    tx: &mut dyn Tx,
    ctx: &Context,
    workspace: WorkspaceId,
    project: ProjectId,
) -> Result<Starter, Problem> {
    let user = ctx.caller.user().ok_or_else(Problem::unauthorized)?;
    let fact = MembershipFact { workspace, user, role: Role::Owner, access_ends_at: None };
    let member = authorize_member(&ctx.caller, workspace, Some(&fact), ctx.now)?;

    let project = CreateProject {
        id: project,
        name: "Starter data".to_owned(),
        description: Some("What the sample app keeps.".to_owned()),
        shard: api.config.new_projects_shard,
    };
    let project = projects::projects::create_project(tx, ctx, &member, project).await?;

    let host: GateHost = GateHost::parse(HOST).map_err(Problem::internal)?;
    let gate = Gate::open(ctx, workspace, "GitHub", host, vec![Method::Get]);
    tx.insert_gate(&gate).await?;
    tx.audit(ctx.audit("gate.create").workspace(workspace).target(gate.id));

    let manifest = manifest(project.id);
    let app = CreateApp {
        name: manifest.name.clone(),
        description: Some(manifest.description.clone()),
        archetype: Some(manifest.archetype.clone()),
        category: Some(manifest.category),
        sharing: Sharing::Workspace,
    };
    let app = apps::apps::create_app(tx, ctx, &member.clone().builder()?, app).await?;
    let right = authorize_app(member, Some(&app.fact(AppRights::NONE)))?.require::<CanEdit>()?;
    let version = CreateVersion {
        manifest,
        files: BTreeMap::from([(ENTRY_FILE.to_owned(), SOURCE.to_owned())]),
        summary: Some("Came with the workspace".to_owned()),
        kind: VersionKind::Seed,
    };
    apps::versions::create_version(tx, ctx, &right, version).await?;

    let road = CreateAutomation {
        name: "Notes from a webhook".to_owned(),
        trigger: Trigger::Webhook,
        max_concurrency: None,
        retries: 2,
    };
    let road = runs::automations::create_automation(tx, ctx, &right, road).await?;
    let keys = Keys { vault: &api.services.vault, peppers: &api.services.peppers };
    let webhook = ConfigureWebhook { mode: ProofMode::Signed, per_minute: None, form: None, confirm: false };
    runs::webhooks::configure_webhook(tx, ctx, &right, keys, road.id, webhook).await?;
    Ok(Starter { app: app.id, gate: gate.id, road: road.id })
}

fn manifest(project: ProjectId) -> Manifest {
    let mut manifest = Manifest::plain(
        "Notebook",
        "Keeps a note for everything that reaches it, and shows the last ones.",
        "workshop",
        Category::Data,
    );
    manifest.permissions.data.push(DataPermission {
        name: BINDING.to_owned(),
        project_id: project,
        access: DataAccess::Write,
        tables: Some(vec![TABLE.to_owned()]),
    });
    let methods = Some(vec![HttpMethod::Get]);
    manifest.permissions.egress.push(EgressPermission { host: HOST.to_owned(), methods });
    manifest.triggers.push(ManifestTrigger::Form {});
    manifest.sharing = ManifestSharing { default: Sharing::Workspace };
    manifest.roi = Roi { manual_minutes_per_run: 2.0 };
    manifest
}
