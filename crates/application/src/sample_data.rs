//! Sample data of a new workspace: an app, the gate of the host that it calls, an automation with a signed webhook, and
//! a backend project that the app writes to. It combines use cases of several domains in one transaction.

use std::collections::BTreeMap;

use apps::{
    Category, Manifest, VersionKind,
    apps::CreateApp,
    manifest::{
        DataAccess, DataPermission, EgressMethod, EgressPermission, ManifestSharing, ManifestTrigger, Roi,
    },
    safe_band::PublishRule,
    versions::{Baseline, CreateVersion, ENTRY_FILE, Handlers, Publishing},
};
use backend_data::{Access, ColumnType, NewColumn, NewTable};
use connections::{Gate, GateHost, gates::Method};
use kernel::{
    Context,
    authority::{CanEdit, Sharing},
    id::{AppId, AutomationId, GateId, ProjectId, WorkspaceId},
};
use projects::projects::CreateProject;
use runs::{
    Trigger,
    automations::CreateAutomation,
    webhooks::{ConfigureWebhook, CredentialKeys, ProofMode},
};

use crate::{Application, Problem, Tx, project_location::unshared, rows_problem};

const SAMPLE_SOURCE: &str = include_str!("sample_data/main.js");
const SAMPLE_HOST: &str = "api.github.com";
/// Name of the project in the sample app's code.
const SAMPLE_BINDING: &str = "main";
const SAMPLE_TABLE: &str = "notes";

/// The sample data of a workspace.
pub struct SampleData {
    /// App.
    pub app: AppId,
    /// Gate of the host that the app calls.
    pub gate: GateId,
    /// Automation with a webhook.
    pub automation: AutomationId,
}

/// Creates the row storage of a project, with a sample table, and returns the project's id.
///
/// Rows are in another store than the control plane, so this happens before the transaction that creates the project.
/// Pass the result of that transaction to [`or_deprovision`].
///
/// # Errors
/// [`Problem`] if the row store fails.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn provision_rows(app: &Application, ctx: &Context) -> Result<ProjectId, Problem> {
    let id: ProjectId = ctx.new_id();
    let project_ref = unshared(id, app.settings().new_projects_shard)?;
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

/// Returns the result of the transaction that creates a project. If it failed, deletes the project's row storage.
///
/// Storage that cannot be deleted stays behind, and nothing refers to it.
///
/// # Errors
/// The error in `result`.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn or_deprovision<T, E>(
    app: &Application,
    project: ProjectId,
    result: Result<T, E>,
) -> Result<T, E> {
    if result.is_err()
        && let Err(problem) = deprovision_rows(app, project).await
    {
        let error = &problem as &dyn std::error::Error;
        tracing::warn!(error, %project, "could not delete the row storage of a project that was not created");
    }
    result
}

async fn deprovision_rows(app: &Application, project: ProjectId) -> Result<(), Problem> {
    // The commit may have succeeded although its response was lost.
    if app.store().project_fact(project).await?.is_some() {
        return Ok(());
    }
    let project_ref = unshared(project, app.settings().new_projects_shard)?;
    app.rows().drop_project(&project_ref).await.map_err(rows_problem)
}

/// Creates the sample data of a workspace that the same transaction created.
///
/// # Errors
/// [`Problem`] if a use case refuses or the store fails.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn seed(
    app: &Application,
    tx: &mut dyn Tx,
    ctx: &Context,
    workspace: WorkspaceId,
    project: ProjectId,
) -> Result<SampleData, Problem> {
    let member = app.lock_member(tx, ctx, workspace).await?;

    let project = CreateProject {
        id: project,
        name: "Starter data".to_owned(),
        description: Some("Data of the sample app.".to_owned()),
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
        is_in_review: false,
    };
    let sample_app = apps::apps::create_app(tx, ctx, &member.require_builder()?.into(), sample_app).await?;
    let right = app.lock_app::<CanEdit>(tx, ctx, sample_app.id).await?;
    let version = CreateVersion {
        manifest,
        files: BTreeMap::from([(ENTRY_FILE.to_owned(), SAMPLE_SOURCE.to_owned())]),
        summary: Some("Sample version of a new workspace".to_owned()),
        kind: VersionKind::Seed,
        built_from: None,
        handlers: Some(Handlers { scheduled: true, fetch: true }),
        publishing: Publishing {
            baseline: Baseline::new_app(),
            rule: PublishRule::Direct,
            inherits_manifest: false,
        },
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
        "Saves a note for each event that it receives, and shows the latest notes.",
        "workshop",
        Category::Data,
    );
    manifest.permissions.data.push(DataPermission {
        name: SAMPLE_BINDING.to_owned(),
        project_id: project,
        access: DataAccess::Write,
        tables: Some(vec![SAMPLE_TABLE.to_owned()]),
    });
    let methods = Some(vec![EgressMethod::Get]);
    manifest.permissions.egress.push(EgressPermission::new(SAMPLE_HOST, methods));
    manifest.triggers.push(ManifestTrigger::Form {});
    manifest.sharing = ManifestSharing { default: Sharing::Workspace };
    manifest.roi = Roi { manual_minutes_per_run: 2.0 };
    manifest
}
