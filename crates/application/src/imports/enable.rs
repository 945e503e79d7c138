//! Turning an import on.

use std::{collections::BTreeSet, str::FromStr};

use apps::{
    Manifest, VersionKind,
    manifest::{ConnectorPermission, CredentialHeader, EgressMethod, EgressPermission, HttpMethod},
    safe_band::PublishRule,
    versions::Publishing,
};
use connections::GateHost;
use imports::{
    SKIPPED_FILE,
    imports::{Choices, Import, ImportError, check_choices, enable_import},
    skipped_module,
};
use kernel::{
    Context,
    authority::{AppRight, CanEdit, Member, Sharing},
    id::{AppId, AutomationId, ImportId, WorkspaceId},
};
use runs::{
    AutomationStatus,
    automations::{UpdateAutomation, update_automation},
};

use super::create::trigger_of;
use crate::{
    Application, Problem,
    app_versions::{CurrentVersion, NewVersion},
    unit,
};

/// Number of the version that an import is created with.
const FIRST_VERSION: u32 = 1;

/// An import that was turned on.
#[derive(Debug)]
pub struct EnabledImport {
    /// Import.
    pub import: Import,
    /// Steps that an admin has to take in the console before the app can use everything that it asks for.
    pub needs_console: Vec<String>,
}

impl Application {
    /// Turns an import on: its app gets a version that names the connections, and its automation is active.
    ///
    /// # Errors
    /// [`Problem`] if there is no such import, a connection is missing, of another connector or may not be spent by the
    /// caller, the app was changed at the same time, or the store fails.
    pub async fn enable_import(
        &self,
        ctx: &Context,
        right: &AppRight<CanEdit>,
        id: ImportId,
        choices: &Choices,
    ) -> Result<EnabledImport, Problem> {
        let member = right.member();
        let workspace = member.workspace();
        let missing = || Problem::not_found("import");
        let import = self
            .store()
            .import(id)
            .await?
            .filter(|import| import.app == Some(right.app()))
            .ok_or_else(missing)?;
        check_choices(&import, choices)?;
        let other = self.other_automation(&import, workspace, right.app()).await?;
        self.check_bindings(member, &import, choices).await?;
        let settings =
            self.store().workspace(workspace).await?.ok_or_else(|| Problem::not_found("workspace"))?;
        let current = self.read_current_version(ctx, member, right.app(), PublishRule::Direct).await?;
        let CurrentVersion { baseline, number, mut files } = current.ok_or(apps::AppError::NoVersion)?;
        let manifest = manifest_for(baseline.manifest(), &import, choices);
        // The report is about the first version. Code that was written since was not reviewed with it.
        let rule = if number == FIRST_VERSION { PublishRule::Reviewed } else { PublishRule::Direct };
        let skipped: Vec<String> = choices.skip.iter().cloned().collect();
        files.insert(SKIPPED_FILE.to_owned(), skipped_module(&skipped));
        let current = baseline.version();
        let version = NewVersion {
            manifest,
            files,
            summary: Some("Turned on".to_owned()),
            kind: VersionKind::Edit,
            built_from: None,
            // It stays as it is.
            sharing: Sharing::Private,
            publishing: Publishing { baseline, rule, inherits_manifest: false },
        };
        let version = self.check_version(ctx, member, version).await?;
        self.transaction(unit!(|tx| {
            let right = &self.lock_app::<CanEdit>(tx, ctx, right.app()).await?;
            let import = enable_import(tx, ctx, right, id, choices, (settings.locale, other)).await?;
            let (mut app, created, needs_console) =
                self.publish_version(tx, ctx, right, version.clone()).await?;
            app.is_in_review = false;
            tx.update_app(&app).await?;
            if created.base != current {
                return Err(apps::AppError::StaleVersion.into());
            }
            let automation = import.automation.ok_or(ImportError::AutomationMissing)?;
            let start =
                UpdateAutomation { status: Some(AutomationStatus::Active), ..UpdateAutomation::default() };
            match update_automation(tx, ctx, right, automation, start).await {
                Ok(_) => {}
                Err(runs::RunsError::AutomationNotFound) => return Err(ImportError::AutomationMissing.into()),
                Err(error) => return Err(error.into()),
            }
            Ok::<_, Problem>(EnabledImport { import, needs_console })
        }))
        .await
    }

    /// Returns the automation that a person made in place of an import's that was deleted: of the same kind, the newest.
    async fn other_automation(
        &self,
        import: &Import,
        workspace: WorkspaceId,
        app: AppId,
    ) -> Result<Option<AutomationId>, Problem> {
        if import.automation.is_some() {
            return Ok(None);
        }
        let kind = trigger_of(&import.report)?.kind();
        let found = self.store().automations_of_app(workspace, app).await?.into_iter();
        Ok(found.filter(|it| it.trigger.kind() == kind).map(|it| it.id).max())
    }

    /// Checks that every binding names a connection of the workspace, to the connector of its key.
    async fn check_bindings(
        &self,
        member: &Member,
        import: &Import,
        choices: &Choices,
    ) -> Result<(), Problem> {
        for (key, id) in &choices.bindings {
            let found = self.store().find_connection(member.workspace(), *id).await?;
            let connection = found.ok_or_else(|| Problem::not_found("connection"))?;
            let wanted = import.report.connections.iter().find(|known| known.key == *key);
            if let Some(wanted) = wanted.and_then(|wanted| wanted.connector_id.as_deref())
                && wanted != connection.connector
            {
                return Err(Problem::invalid_field(
                    &format!("bindings.{key}"),
                    format_args!("must be a connection to {wanted}"),
                ));
            }
        }
        Ok(())
    }
}

/// Returns the manifest of an app that is turned on: with the hosts of its code, and the connections that were chosen.
fn manifest_for(before: &Manifest, import: &Import, choices: &Choices) -> Manifest {
    let mut manifest = before.clone();
    let needed: BTreeSet<&str> =
        import.connections_without(&choices.skip).map(|connection| connection.key.as_str()).collect();
    let bound = choices.bindings.iter().filter(|(key, _)| needed.contains(key.as_str()));
    for (key, connection) in bound {
        manifest.permissions.connectors.retain(|known| known.name != *key);
        let methods =
            import.needs.methods.get(key).map(named::<HttpMethod>).filter(|methods| !methods.is_empty());
        manifest.permissions.connectors.push(ConnectorPermission {
            name: key.clone(),
            connection_id: *connection,
            methods,
            paths: None,
        });
    }
    let egress = &mut manifest.permissions.egress;
    for (host, methods) in &import.needs.hosts {
        // What no gate can open stays out, so that a run tells it at the step.
        if GateHost::parse(host).is_ok() && !egress.iter().any(|known| known.host == *host) {
            egress.push(EgressPermission::new(host.clone(), Some(named::<EgressMethod>(methods))));
        }
    }
    for need in import.needs.headers.iter().filter(|need| !choices.skip.contains(&need.step)) {
        let Ok(header) = need.header.parse::<CredentialHeader>() else { continue };
        if let Some(known) = egress.iter_mut().find(|known| known.host == need.host)
            && !known.headers.contains(&header)
        {
            known.headers.push(header);
        }
    }
    manifest
}

/// Returns the methods of these names.
fn named<T: FromStr>(names: &BTreeSet<String>) -> Vec<T> {
    names.iter().filter_map(|name| name.parse().ok()).collect()
}
