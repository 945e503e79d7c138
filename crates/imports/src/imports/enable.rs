//! Turning an import on.

use std::collections::{BTreeMap, BTreeSet};

use kernel::{
    Context, Locale,
    authority::{AppRight, CanEdit},
    id::{AutomationId, ConnectionId, ImportId},
};

use super::{Import, ImportError, ImportStatus, ImportsTx};
use crate::{Sentence, report::MAX_WARNINGS};

/// Choices of a person who turns an import on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Choices {
    /// Connections by the keys of the report.
    pub bindings: BTreeMap<String, ConnectionId>,
    /// Ids of the items that are left out.
    pub skip: BTreeSet<String>,
}

/// Checks that the choices name what the report has, and that every connection that is needed has one.
///
/// # Errors
/// * [`ImportError::NotInReview`] when it was turned on or discarded before
/// * [`ImportError::UnknownBinding`] and [`ImportError::UnknownItem`] for what the report does not have
/// * [`ImportError::BindingMissing`] with the keys that are neither bound nor skipped
pub fn check_choices(import: &Import, choices: &Choices) -> Result<(), ImportError> {
    if import.status != ImportStatus::Review {
        return Err(ImportError::NotInReview(import.status));
    }
    let connections = &import.report.connections;
    if let Some(key) = choices.bindings.keys().find(|key| !connections.iter().any(|known| known.key == **key))
    {
        return Err(ImportError::UnknownBinding(key.clone()));
    }
    let items = &import.report.items;
    if let Some(id) = choices.skip.iter().find(|id| !items.iter().any(|item| item.id == **id)) {
        return Err(ImportError::UnknownItem(id.clone()));
    }
    let needed = import.connections_without(&choices.skip);
    let missing: Vec<String> = needed
        .map(|connection| connection.key.clone())
        .filter(|key| !choices.bindings.contains_key(key))
        .collect();
    if missing.is_empty() { Ok(()) } else { Err(ImportError::BindingMissing(missing)) }
}

/// Records that an import was turned on. The caller creates the version and starts the automation in the same transaction;
/// `automation` is the one to start in place of the import's, if that was deleted.
/// Warnings of the report name what depends on the items that are left out.
///
/// # Errors
/// * [`ImportError::NotFound`] when the app has no such import
/// * what [`check_choices`] refuses
/// * [`ImportError::AutomationMissing`] when there is no automation to start
/// * [`ImportError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
pub async fn enable_import(
    tx: &mut dyn ImportsTx,
    ctx: &Context,
    right: &AppRight<CanEdit>,
    id: ImportId,
    choices: &Choices,
    (locale, automation): (Locale, Option<AutomationId>),
) -> Result<Import, ImportError> {
    let workspace = right.member().workspace();
    let found = tx.import_for_update(workspace, id).await?;
    let mut import = found.filter(|import| import.app == Some(right.app())).ok_or(ImportError::NotFound)?;
    check_choices(&import, choices)?;
    import.automation = import.automation.or(automation);
    if import.automation.is_none() {
        return Err(ImportError::AutomationMissing);
    }
    let warnings = dependents(&import, &choices.skip);
    import.report.warnings.extend(warnings.iter().map(|warning| warning.text(locale)));
    import.report.warnings.truncate(MAX_WARNINGS);
    import.status = ImportStatus::Enabled;
    import.changed_at = ctx.now;
    tx.update_import(&import).await?;
    let entry = ctx.audit_entry("import.enable").workspace(workspace).target(id).app(right.app());
    let detail = serde_json::json!({ "app": right.app(), "bindings": choices.bindings, "skipped": choices.skip.len() });
    tx.audit(entry.detail(detail));
    Ok(import)
}

/// Returns a warning for each item that is left out and that others follow.
fn dependents(import: &Import, skip: &BTreeSet<String>) -> Vec<Sentence> {
    let name = |id: &String| {
        let item = import.report.items.iter().find(|item| item.id == *id);
        item.map_or_else(|| id.clone(), |item| item.name.clone())
    };
    let warning = |id: &String| {
        let mut reached = BTreeSet::new();
        let mut open = vec![id];
        while let Some(next) = open.pop() {
            for follower in import.needs.followers.get(next).into_iter().flatten() {
                if !skip.contains(follower) && reached.insert(follower) {
                    open.push(follower);
                }
            }
        }
        let names: Vec<String> = reached.iter().take(5).map(|id| name(id)).collect();
        (!names.is_empty()).then(|| Sentence::Dependents(name(id), names.join(", ")))
    };
    skip.iter().filter_map(warning).collect()
}
