//! Creating an import: an app with a paused automation.

use apps::{
    Category, Manifest, VersionKind,
    apps::CreateApp,
    manifest::{ManifestSharing, ManifestTrigger, Permissions, Roi},
    safe_band::PublishRule,
    versions::{Baseline, CreateVersion, Publishing},
};
use imports::{
    Analysis, Report,
    imports::{Import, ImportNeeds, NewImport},
    report::TriggerKind,
};
use kernel::{
    Context,
    authority::{AppCreator, CanEdit, Sharing},
};
use runs::{
    AutomationStatus, Trigger,
    automations::{
        CreateAutomation, UpdateAutomation, create_automation, schedule::Schedule, update_automation,
    },
};

use crate::{Application, Problem, unit};

impl Application {
    /// Creates the app of an export, with a paused automation. It asks for no host and no connection until it is turned on.
    ///
    /// # Errors
    /// [`Problem`] if the export or the name is refused, nothing can be created of it, too many imports wait for a decision,
    /// or the store fails.
    pub async fn create_import(
        &self,
        ctx: &Context,
        creator: &AppCreator,
        source: String,
        name: Option<String>,
    ) -> Result<Import, Problem> {
        let workspace = creator.workspace();
        let (analysis, handlers) = self.analyze_and_check(ctx, creator, source).await?;
        if !analysis.report.can_create {
            return Err(Problem::conflict("import_not_possible", analysis.report.warnings.join(" "))
                .hint("Make the workflow smaller in its tool, and export it again."));
        }
        let name = name.unwrap_or_else(|| app_name(&analysis.report));
        let manifest = first_manifest(&analysis.report, name.clone());
        let needs = ImportNeeds::of(&analysis);
        let Analysis { report, files, .. } = analysis;
        let trigger = trigger_of(&report)?;
        let app = CreateApp {
            name: name.clone(),
            description: Some(manifest.description.clone()),
            archetype: None,
            category: Some(manifest.category),
            sharing: Sharing::Private,
            is_in_review: true,
        };
        let version = CreateVersion {
            manifest,
            files,
            summary: Some(format!("Imported from {}", report.format.tool())),
            kind: VersionKind::Build,
            built_from: None,
            handlers,
            publishing: Publishing {
                baseline: Baseline::new_app(),
                rule: PublishRule::Reviewed,
                inherits_manifest: false,
            },
        };
        self.transaction(unit!(|tx| {
            let creator = self.lock_member(tx, ctx, workspace).await?.require_importer()?;
            let app = apps::apps::create_app(tx, ctx, &creator, app.clone()).await?;
            let right = self.lock_app::<CanEdit>(tx, ctx, app.id).await?;
            self.publish_version(tx, ctx, &right, version.clone()).await?;
            let automation = CreateAutomation {
                name: name.clone(),
                trigger: trigger.clone(),
                max_concurrency: None,
                retries: 0,
            };
            let automation = create_automation(tx, ctx, &right, automation).await?;
            let pause =
                UpdateAutomation { status: Some(AutomationStatus::Paused), ..UpdateAutomation::default() };
            update_automation(tx, ctx, &right, automation.id, pause).await?;
            let new = NewImport {
                name: app.name,
                automation: automation.id,
                report: report.clone(),
                needs: needs.clone(),
            };
            Ok::<_, Problem>(imports::imports::create_import(tx, ctx, &right, new).await?)
        }))
        .await
    }
}

/// Returns the name of the workflow within the bounds of an app's.
fn app_name(report: &Report) -> String {
    let name: String = report.name.chars().take(60).collect();
    name.trim().to_owned()
}

/// Returns the manifest of an app that is not turned on: it declares how it starts, and asks for nothing.
fn first_manifest(report: &Report, name: String) -> Manifest {
    let summary = report.sentences.get(1).map(String::as_str).unwrap_or_default();
    let description = format!("{}: {summary}", report.format.tool()).chars().take(280).collect();
    let start = match report.trigger.kind {
        TriggerKind::Manual => None,
        TriggerKind::Webhook => Some(ManifestTrigger::Webhook {}),
        TriggerKind::Form => Some(ManifestTrigger::Form {}),
        TriggerKind::Schedule => Some(ManifestTrigger::Schedule {
            cron: report.trigger.cron.clone(),
            timezone: report.trigger.timezone.clone(),
        }),
    };
    Manifest {
        name,
        description,
        archetype: "workshop".to_owned(),
        category: Category::Data,
        permissions: Permissions::default(),
        triggers: start.into_iter().chain([ManifestTrigger::Manual {}]).collect(),
        sharing: ManifestSharing::default(),
        roi: Roi::default(),
    }
}

pub(super) fn trigger_of(report: &Report) -> Result<Trigger, Problem> {
    Ok(match report.trigger.kind {
        TriggerKind::Manual => Trigger::Manual,
        TriggerKind::Webhook => Trigger::Webhook,
        TriggerKind::Form => Trigger::Form,
        TriggerKind::Schedule => {
            let cron = report.trigger.cron.as_deref().unwrap_or_default();
            Trigger::Schedule(Schedule::parse(cron, report.trigger.timezone.as_deref())?)
        }
    })
}
