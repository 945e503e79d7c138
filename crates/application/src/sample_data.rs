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
    webhooks::{ConfigureWebhook, CredentialKeys, ProofMode},
};

use crate::{Application, Tx, rows_problem};

const SAMPLE_SOURCE: &str = include_str!("sample_data/main.js");
const SAMPLE_HOST: &str = "app.github.com";
/// What the sample app calls the project.
const SAMPLE_BINDING: &str = "main";
const SAMPLE_TABLE: &str = "notes";

/// The sample data of a workspace.
pub struct SampleData {
    /// The app.
    pub app: AppId,
    /// The gate of the host that the app calls.
    pub gate: GateId,
    /// The automation with its webhook.
    pub automation: AutomationId,
}

/// Makes the place for a project's rows, with a sample table.
///
/// This is another store than the control plane's, so it happens before the transaction: what fails after it is given to
/// [`or_take_back`].
pub async fn provision_rows(app: &Application, ctx: &Context) -> Result<ProjectId, Problem> {
    let id: ProjectId = ctx.new_id();
    let project_ref = project_ref(id, app.settings().new_projects_shard)?;
    let rows = app.rows();
    rows.create_project(&project_ref).await.map_err(rows_problem)?;
    let table = NewTable {
        columns: vec![
            NewColumn::new("title", ColumnType::Text),
            NewColumn::new("source", ColumnType::Text),
            NewColumn::new("data", ColumnType::Json),
            NewColumn::new("done", ColumnType::Boolean),
        ],
        ..NewTable::new(SAMPLE_TABLE)
    };
    let created = rows.create_table(&project_ref, &Access::Owner, table).await.map_err(rows_problem);
    or_deprovision(app, id, created).await?;
    Ok(id)
}

/// What came of a project whose place was made; where it came to nothing, the place is taken away again.
///
/// A place that cannot be taken away stays, and nothing points at it.
pub async fn or_deprovision<T, E>(
    app: &Application,
    project: ProjectId,
    result: Result<T, E>,
) -> Result<T, E> {
    if result.is_err()
        && let Err(problem) = deprovision_rows(app, project).await
    {
        let error = &problem as &dyn std::error::Error;
        tracing::warn!(error, %project, "an empty place of a project is left over");
    }
    result
}

async fn deprovision_rows(app: &Application, project: ProjectId) -> Result<(), Problem> {
    // A commit whose answer was lost may have been made.
    if app.store().project_fact(project).await?.is_some() {
        return Ok(());
    }
    let project_ref = project_ref(project, app.settings().new_projects_shard)?;
    app.rows().drop_project(&project_ref).await.map_err(rows_problem)
}

/// Where a project's rows are.
pub fn project_ref(project: ProjectId, shard: u16) -> Result<ProjectRef, Problem> {
    let id = project.to_string().parse().map_err(rows_problem)?;
    Ok(ProjectRef::new(id, shard))
}

/// Lays the starter world of a workspace that was made in this very transaction.
pub async fn seed(
    app: &Application,
    tx: &mut dyn Tx,
    ctx: &Context,
    workspace: WorkspaceId,
    project: ProjectId,
) -> Result<SampleData, Problem> {
    let user = ctx.caller.user().ok_or_else(Problem::unauthorized)?;
    let fact = MembershipFact { workspace, user, role: Role::Owner, access_ends_at: None };
    let member = authorize_member(&ctx.caller, workspace, Some(&fact), ctx.now)?;

    let project = CreateProject {
        id: project,
        name: "Starter data".to_owned(),
        description: Some("What the sample app keeps.".to_owned()),
        shard: app.settings().new_projects_shard,
    };
    let project = projects::projects::create_project(tx, ctx, &member, project).await?;

    let host: GateHost = GateHost::parse(SAMPLE_HOST).map_err(Problem::internal)?;
    let gate = Gate::new_open(ctx, workspace, "GitHub", host, vec![Method::Get]);
    tx.insert_gate(&gate).await?;
    tx.audit(ctx.audit_entry("gate.create").workspace(workspace).target(gate.id));

    let manifest = manifest(project.id);
    let sample_app = CreateApp {
        name: manifest.name.clone(),
        description: Some(manifest.description.clone()),
        archetype: Some(manifest.archetype.clone()),
        category: Some(manifest.category),
        sharing: Sharing::Workspace,
    };
    let sample_app = apps::apps::create_app(tx, ctx, &member.clone().require_builder()?, sample_app).await?;
    let right = authorize_app(member, Some(&sample_app.to_fact(AppRights::NONE)))?.require::<CanEdit>()?;
    let version = CreateVersion {
        manifest,
        files: BTreeMap::from([(ENTRY_FILE.to_owned(), SAMPLE_SOURCE.to_owned())]),
        summary: Some("Came with the workspace".to_owned()),
        kind: VersionKind::Seed,
    };
    apps::versions::create_version(tx, ctx, &right, version).await?;

    let automation = CreateAutomation {
        name: "Notes from a webhook".to_owned(),
        trigger: Trigger::Webhook,
        max_concurrency: None,
        retries: 2,
    };
    let automation = runs::automations::create_automation(tx, ctx, &right, automation).await?;
    let keys = CredentialKeys { vault: app.vault(), peppers: app.peppers() };
    let webhook = ConfigureWebhook { mode: ProofMode::Signed, per_minute: None, form: None, confirm: false };
    runs::webhooks::configure_webhook(tx, ctx, &right, keys, automation.id, webhook).await?;
    Ok(SampleData { app: sample_app.id, gate: gate.id, automation: automation.id })
}

fn manifest(project: ProjectId) -> Manifest {
    let mut manifest = Manifest::minimal(
        "Notebook",
        "Keeps a note for everything that reaches it, and shows the last ones.",
        "workshop",
        Category::Data,
    );
    manifest.permissions.data.push(DataPermission {
        name: SAMPLE_BINDING.to_owned(),
        project_id: project,
        access: DataAccess::Write,
        tables: Some(vec![SAMPLE_TABLE.to_owned()]),
    });
    let methods = Some(vec![HttpMethod::Get]);
    manifest.permissions.egress.push(EgressPermission { host: SAMPLE_HOST.to_owned(), methods });
    manifest.triggers.push(ManifestTrigger::Form {});
    manifest.sharing = ManifestSharing { default: Sharing::Workspace };
    manifest.roi = Roi { manual_minutes_per_run: 2.0 };
    manifest
}
