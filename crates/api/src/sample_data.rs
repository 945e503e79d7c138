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

use crate::{ports::Tx, routes::rest_problem, state::Api};

const SAMPLE_SOURCE: &str = include_str!("starter/main.js");
const SAMPLE_HOST: &str = "api.github.com";
/// What the sample app calls the project.
const SAMPLE_BINDING: &str = "main";
const SAMPLE_TABLE: &str = "notes";

/// What was laid.
pub(crate) struct SampleData {
    pub(crate) app: AppId,
    pub(crate) gate: GateId,
    pub(crate) automation: AutomationId,
}

/// Makes the place for a project's rows, with a sample table.
///
/// This is another store than the control plane's, so it happens before the transaction: what fails after it is given to
/// [`or_take_back`].
pub(crate) async fn provision_rows(api: &Api, ctx: &Context) -> Result<ProjectId, Problem> {
    let id: ProjectId = ctx.new_id();
    let project_ref = project_ref(id, api.config.new_projects_shard)?;
    let rows = &api.services.rows;
    rows.create_project(&project_ref).await.map_err(rest_problem)?;
    let table = NewTable {
        columns: vec![
            NewColumn::new("title", ColumnType::Text),
            NewColumn::new("source", ColumnType::Text),
            NewColumn::new("data", ColumnType::Json),
            NewColumn::new("done", ColumnType::Boolean),
        ],
        ..NewTable::new(SAMPLE_TABLE)
    };
    let created = rows.create_table(&project_ref, &Access::Owner, table).await.map_err(rest_problem);
    or_deprovision(api, id, created).await?;
    Ok(id)
}

/// What came of a project whose place was made; where it came to nothing, the place is taken away again.
///
/// A place that cannot be taken away stays, and nothing points at it.
pub(crate) async fn or_deprovision<T, E>(
    api: &Api,
    project: ProjectId,
    result: Result<T, E>,
) -> Result<T, E> {
    if result.is_err()
        && let Err(problem) = deprovision_rows(api, project).await
    {
        let error = &problem as &dyn std::error::Error;
        tracing::warn!(error, %project, "an empty place of a project is left over");
    }
    result
}

async fn deprovision_rows(api: &Api, project: ProjectId) -> Result<(), Problem> {
    // A commit whose answer was lost may have been made.
    if api.store().project_fact(project).await?.is_some() {
        return Ok(());
    }
    let project_ref = project_ref(project, api.config.new_projects_shard)?;
    api.services.rows.drop_project(&project_ref).await.map_err(rest_problem)
}

/// Where a project's rows are.
pub(crate) fn project_ref(project: ProjectId, shard: u16) -> Result<ProjectRef, Problem> {
    let id = project.to_string().parse().map_err(rest_problem)?;
    Ok(ProjectRef::new(id, shard))
}

/// Lays the starter world of a workspace that was made in this very transaction.
pub(crate) async fn seed(
    api: &Api,
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
        shard: api.config.new_projects_shard,
    };
    let project = projects::projects::create_project(tx, ctx, &member, project).await?;

    let host: GateHost = GateHost::parse(SAMPLE_HOST).map_err(Problem::internal)?;
    let gate = Gate::new_open(ctx, workspace, "GitHub", host, vec![Method::Get]);
    tx.insert_gate(&gate).await?;
    tx.audit(ctx.audit_entry("gate.create").workspace(workspace).target(gate.id));

    let manifest = manifest(project.id);
    let app = CreateApp {
        name: manifest.name.clone(),
        description: Some(manifest.description.clone()),
        archetype: Some(manifest.archetype.clone()),
        category: Some(manifest.category),
        sharing: Sharing::Workspace,
    };
    let app = apps::apps::create_app(tx, ctx, &member.clone().require_builder()?, app).await?;
    let right = authorize_app(member, Some(&app.to_fact(AppRights::NONE)))?.require::<CanEdit>()?;
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
    let keys = CredentialKeys { vault: &api.services.vault, peppers: &api.services.peppers };
    let webhook = ConfigureWebhook { mode: ProofMode::Signed, per_minute: None, form: None, confirm: false };
    runs::webhooks::configure_webhook(tx, ctx, &right, keys, automation.id, webhook).await?;
    Ok(SampleData { app: app.id, gate: gate.id, automation: automation.id })
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
